// Spans of HTTP requests. They contain the pattern of the route and never the URL: paths and queries contain input of users.
import { ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import type { StartedRequest } from '../server-telemetry.ts';
import type { CreatedRuns } from './created-runs.ts';

/** Other methods are texts that a client has chosen. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

type Header = (name: string) => string | undefined;

export class RequestSpans {
  readonly #tracer: Tracer;
  readonly #created: CreatedRuns;
  readonly #propagator = new W3CTraceContextPropagator();

  constructor(tracer: Tracer, created: CreatedRuns) {
    this.#tracer = tracer;
    this.#created = created;
  }

  /** The span is a child of the span in the header `traceparent`. */
  readonly start = (given: string, header: Header): StartedRequest => {
    const parent = this.#propagator.extract(ROOT_CONTEXT, header, {
      get: (carrier: Header, name) => carrier(name),
      keys: () => ['traceparent', 'tracestate'],
    });
    const isKnown = methods.has(given);
    const options = {
      kind: SpanKind.SERVER,
      attributes: { 'http.request.method': isKnown ? given : '_OTHER' },
    };
    const method = isKnown ? given : 'HTTP';
    const span = this.#tracer.startSpan(method, options, parent);
    let isNamed = false;
    const { traceId: trace_id, spanId: span_id } = span.spanContext();
    return {
      ids: span.isRecording() ? { trace_id, span_id } : undefined,
      created: ({ thread_id, run_id }) => {
        if (!span.isRecording()) return;
        this.#created.note(run_id, span.spanContext());
        const run = {
          'svc.run_id': run_id,
          ...(thread_id === undefined ? {} : { 'svc.thread_id': thread_id }),
        };
        // A batch, or the commands of a WebSocket, create several runs.
        if (isNamed) span.addEvent('run created', run);
        else span.setAttributes(run);
        isNamed = true;
      },
      end: (answer) => endSpan(span, method, answer),
    };
  };
}

const endSpan = (span: Span, method: string, { route, status }: { route: string; status: number }): void => {
  span.setAttribute('http.response.status_code', status);
  if (route !== '*') {
    span.updateName(`${method} ${route}`);
    span.setAttribute('http.route', route);
  }
  if (status >= 500) {
    span.setAttribute('error.type', String(status));
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
};
