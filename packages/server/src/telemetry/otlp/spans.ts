// Spans of HTTP requests and of attempts of runs.
import {
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { LRUCache } from 'lru-cache';
import type { AttemptFacts, StartedRequest } from '../server-telemetry.ts';

/** Other methods are texts that a client has chosen. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

type Header = (name: string) => string | undefined;

/** They contain the pattern of the route and never the URL: paths and queries contain input of users. */
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

const failures = new Set(['error', 'timeout', 'lost']);

/**
 * From the claim to the end. A run may execute long after its request, and on another node, so the span is the
 * root of a trace of its own, with a link to the span of the request.
 */
export class AttemptSpans {
  readonly #tracer: Tracer;
  readonly #created: CreatedRuns;

  constructor(tracer: Tracer, created: CreatedRuns) {
    this.#tracer = tracer;
    this.#created = created;
  }

  readonly start = ({ command, sinceMs, waitedMs }: AttemptFacts): ((outcome: string) => void) => {
    const { run_id, thread_id, assistant_id, graph_id, attempt, temporary } = command;
    const attributes = {
      'svc.run_id': run_id,
      ...(temporary ? {} : { 'svc.thread_id': thread_id }),
      'svc.assistant_id': assistant_id,
      'svc.graph_id': graph_id,
      'svc.attempt': attempt,
      ...(waitedMs === undefined ? {} : { 'svc.waiting_seconds': waitedMs / 1_000 }),
    };
    const startTime = Date.now() - (performance.now() - sinceMs);
    const request = this.#created.requestOf(run_id);
    const links = request ? [{ context: request }] : [];
    const span = this.#tracer.startSpan(`run ${graph_id}`, { startTime, attributes, links }, ROOT_CONTEXT);
    return (outcome) => {
      span.setAttribute('svc.status', outcome);
      if (failures.has(outcome)) {
        span.setAttribute('error.type', outcome);
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    };
  };
}

/** Runs that wait for longer than it takes to create this many lose their link. */
const runsMax = 10_000;

/**
 * The requests that have created runs, for links from the spans of their attempts. Requests of other processes are not known here; then
 * the attribute `svc.run_id` connects the two spans.
 */
export class CreatedRuns {
  readonly #requests = new LRUCache<string, SpanContext>({ max: runsMax });

  note(run_id: string, request: SpanContext): void {
    this.#requests.set(run_id, request);
  }

  requestOf(run_id: string): SpanContext | undefined {
    return this.#requests.get(run_id);
  }
}
