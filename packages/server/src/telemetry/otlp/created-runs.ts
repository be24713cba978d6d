// The requests that have created runs, for links from the spans of their attempts. Requests of other processes are not known here; then
// the attribute `svc.run_id` connects the two spans.
import type { SpanContext } from '@opentelemetry/api';
import { LRUCache } from 'lru-cache';

/** Runs that wait for longer than it takes to create this many lose their link. */
const runsMax = 10_000;

export class CreatedRuns {
  readonly #requests = new LRUCache<string, SpanContext>({ max: runsMax });

  note(run_id: string, request: SpanContext): void {
    this.#requests.set(run_id, request);
  }

  requestOf(run_id: string): SpanContext | undefined {
    return this.#requests.get(run_id);
  }
}
