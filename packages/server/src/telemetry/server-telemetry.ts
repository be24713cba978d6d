// The spans and metrics that the server sends about itself.
import type { Logger } from 'pino';
import type { MetricSnapshot } from './metrics.ts';

/** The span of a request. */
export interface StartedRequest {
  /** Undefined for a span that is not sent. */
  readonly ids: { readonly trace_id: string; readonly span_id: string } | undefined;
  /** A stateless run has no thread. */
  created(run: { thread_id: string | undefined; run_id: string }): void;
  end(answer: { route: string; status: number }): void;
}

/** The start of an attempt of a run. */
export interface AttemptFacts {
  readonly command: {
    run_id: string;
    thread_id: string;
    assistant_id: string;
    graph_id: string;
    attempt: number;
    /** A stateless run, whose thread id is a placeholder. */
    temporary: boolean;
  };
  /** Monotonic milliseconds. */
  readonly sinceMs: number;
  readonly waitedMs: number | undefined;
}

export interface ServerTelemetry extends AsyncDisposable {
  /** Undefined when no spans are sent. */
  readonly startRequest:
    | ((method: string, header: (name: string) => string | undefined) => StartedRequest)
    | undefined;
  readonly startAttempt: ((attempt: AttemptFacts) => (outcome: string) => void) | undefined;
}

export interface TelemetrySources {
  readonly version: string;
  /** `service.instance.id` of all telemetry. */
  readonly instanceId: string;
  readonly readMetrics: () => Promise<MetricSnapshot[]>;
  readonly logger: Logger;
}
