// Spans of attempts of runs, from the claim to the end. A run may execute long after its request, and on another node, so the span is the
// root of a trace of its own, with a link to the span of the request.
import { ROOT_CONTEXT, SpanStatusCode, type Tracer } from '@opentelemetry/api';
import type { AttemptFacts } from '../server-telemetry.ts';
import type { CreatedRuns } from './created-runs.ts';

const failures = new Set(['error', 'timeout', 'lost']);

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
