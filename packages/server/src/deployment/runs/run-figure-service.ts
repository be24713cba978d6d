// Figures of runs over time.
import { figurePointsMax, type RunFigures } from '@svc/contract';
import { intervalsOf, startTime } from '../../api/intervals.ts';
import type { FigurePoint } from '../../storage/deployment/runs/run-figures.ts';
import type { RunSearch } from '../../storage/deployment/runs/run-search.ts';
import type { RowFilter } from '../../storage/postgres/row-filter.ts';
import type { Storage } from '../../storage/storage.ts';
import { timeMs } from '../../api/time.ts';

type Times = 'created_after' | 'created_before' | 'ended_after' | 'ended_before';

export interface RunFigureRequest extends Omit<RunSearch, Times> {
  /** ISO 8601 with a time zone. */
  from?: string | undefined;
  to?: string | undefined;
  interval_seconds?: number | undefined;
}

type Point = RunFigures['points'][number];

const hourMs = 3_600_000;
const none: Omit<FigurePoint, 'at'> = {
  created: 0,
  success: 0,
  error: 0,
  timeout: 0,
  interrupted: 0,
  wait_ms: null,
  execution_ms: null,
};
/** The earliest time that PostgreSQL and clients know. */
const firstMs = Date.parse('0001-01-01T00:00:00Z');
const fields = { to: 'to', seconds: 'interval_seconds' };

export class RunFigureService {
  readonly #runs: Pick<Storage['runs'], 'figures'>;

  constructor(storage: Pick<Storage, 'runs'>) {
    this.#runs = storage.runs;
  }

  /** Throws invalid when the time has no length, or too many intervals. */
  async read(request: RunFigureRequest, access: RowFilter): Promise<RunFigures> {
    const { from, to, interval_seconds, ...search } = request;
    const toMs = to === undefined ? Date.now() : timeMs(to);
    const fromMs = from === undefined ? Math.max(toMs - hourMs, firstMs) : timeMs(from);
    const { seconds, starts } = intervalsOf(
      { fromMs, toMs, seconds: interval_seconds },
      { max: figurePointsMax, fields },
    );
    const span = {
      from: new Date(fromMs).toISOString(),
      to: new Date(toMs).toISOString(),
      intervalSeconds: seconds,
    };
    const { since, points } = await this.#runs.figures(search, span, access);
    const found = new Map(points.map((point) => [point.at, point]));
    return {
      from: span.from,
      to: span.to,
      interval_seconds: seconds,
      complete: since === null,
      since: since === null ? span.from : new Date(Math.min(since * 1_000, toMs)).toISOString(),
      points: starts.map((at) => pointOf(at, found.get(at) ?? none)),
    };
  }
}

const pointOf = (at: number, point: Omit<FigurePoint, 'at'>): Point => ({
  at: startTime(at),
  created: point.created,
  success: point.success,
  error: point.error,
  timeout: point.timeout,
  interrupted: point.interrupted,
  wait_ms: percentilesOf(point.wait_ms),
  execution_ms: percentilesOf(point.execution_ms),
});

const percentilesOf = (values: FigurePoint['wait_ms']): Point['wait_ms'] => {
  if (values === null) return null;
  const [p50, p95] = values;
  return { p50, p95 };
};
