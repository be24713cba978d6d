// Counts the HTTP responses that this process gets, by phase, whichever code sends the requests.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';

export interface PhaseTraffic {
  name: string;
  ms: number;
  /** Requests with a response. */
  responses: number;
  byStatus: Map<number, number>;
  /** Why requests got no response: connections that were refused or broke. Without the time limits of clients. */
  broken: string[];
  /** The longest time between two successful responses, in milliseconds. */
  gapMs: number;
}

interface Published {
  request: { path: string };
  response?: { statusCode: number };
  error?: Error & { code?: string };
}

const headers = 'undici:request:headers';
const errors = 'undici:request:error';

/** Excluded: the load balancer sends them. */
const isCheck = ({ request: { path } }: Published): boolean => path === '/ready';

export class Traffic implements Disposable {
  readonly phases: PhaseTraffic[] = [];
  readonly #answered = new WeakSet<object>();
  #since = performance.now();
  #lastSuccess = performance.now();

  constructor() {
    subscribe(headers, this.#onHeaders);
    subscribe(errors, this.#onError);
  }

  /** Starts a phase, which ends at the next one. */
  begin(name: string): void {
    this.end();
    this.#since = performance.now();
    if (this.phases.length === 0) this.#lastSuccess = this.#since;
    this.phases.push({ name, ms: 0, responses: 0, byStatus: new Map(), broken: [], gapMs: 0 });
  }

  /** Ends the last phase. */
  end(): void {
    const last = this.phases.at(-1);
    if (last && last.ms === 0) last.ms = performance.now() - this.#since;
  }

  /** The number of responses with a status that the predicate accepts. */
  count(accepts: (status: number) => boolean): number {
    return this.phases
      .flatMap(({ byStatus }) => [...byStatus])
      .reduce((sum, [status, count]) => sum + (accepts(status) ? count : 0), 0);
  }

  readonly #onHeaders = (message: unknown): void => {
    const published = message as Published;
    this.#answered.add(published.request);
    const phase = this.phases.at(-1);
    const status = published.response?.statusCode;
    if (!phase || status === undefined || isCheck(published)) return;
    phase.responses += 1;
    phase.byStatus.set(status, (phase.byStatus.get(status) ?? 0) + 1);
    if (status >= 400) return;
    const now = performance.now();
    phase.gapMs = Math.max(phase.gapMs, now - this.#lastSuccess);
    this.#lastSuccess = now;
  };

  readonly #onError = (message: unknown): void => {
    const published = message as Published;
    const { error } = published;
    const isLimit = error?.name === 'TimeoutError' || error?.name === 'AbortError';
    if (isLimit || this.#answered.has(published.request) || isCheck(published)) return;
    this.phases.at(-1)?.broken.push(`${published.request.path}: ${error?.code} ${error?.message}`);
  };

  [Symbol.dispose](): void {
    unsubscribe(headers, this.#onHeaders);
    unsubscribe(errors, this.#onError);
  }
}

/** The phases as a Markdown table. */
export const tableOf = (phases: readonly PhaseTraffic[]): string => {
  const rows = phases.map(({ name, ms, responses, byStatus, broken, gapMs }) => [
    name,
    `${(ms / 1000).toFixed(1)} s`,
    String(responses),
    String(byStatus.get(503) ?? 0),
    String(broken.length),
    `${Math.round(gapMs)} ms`,
  ]);
  const head = ['phase', 'time', 'responses', '503', 'broken connections', 'longest gap'];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
};
