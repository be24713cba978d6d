// Stores parsed trace runs: those of ingest requests, and those of the server's own runs.
import { Problem } from '@svc/contract/problem';
import type { Attachment, TraceWrite, TraceStorage } from '../../storage/tracing/traces.ts';
import { pricesOf } from '../prices/late-prices.ts';
import type { PriceService } from '../prices/price-service.ts';
import type { ProjectService } from '../projects/project-service.ts';
import type { Admission } from './admission.ts';
import type { Rejections } from './rejections.ts';
import type { RunBatch } from './run-batch.ts';
import type { NewRunWrite } from './run-write.ts';

export interface StoreParts {
  traces: TraceStorage;
  projects: ProjectService;
  prices: PriceService;
  admission: Admission;
  /** Retention of traces in days. */
  daysKept: number;
}

export class RunStore {
  readonly #parts: StoreParts;

  constructor(parts: StoreParts) {
    this.#parts = parts;
  }

  /** Stores all valid runs; adds the others to the rejections. Returns the number of stored runs. */
  async store(tenant_id: string, { runs, attachments, rejections }: RunBatch): Promise<number> {
    const { admission, traces, prices, daysKept } = this.#parts;
    if (runs.length + attachments.length === 0) return 0;
    let lacksPrices = false;
    const store = async (part: readonly TraceWrite[], files: readonly Attachment[]): Promise<void> => {
      const lacks = await traces.ingest(tenant_id, part, files, daysKept);
      lacksPrices ||= lacks;
    };
    // The whole batch is one unit of admission: it uses one connection at a time, so `writersMax` bounds the connections.
    return admission.write(async () => {
      await this.#resolveProjects(tenant_id, runs);
      await prices.price(tenant_id, runs);
      const stored = await storeAll(runs, attachments, store, rejections);
      if (lacksPrices) await this.#priceStored(tenant_id, runs);
      return stored;
    });
  }

  /** Prices runs if their model and their tokens came in different writes. */
  async #priceStored(tenant_id: string, runs: readonly TraceWrite[]): Promise<void> {
    const { traces, prices } = this.#parts;
    const unpriced = await traces.unpriced(
      tenant_id,
      runs.map(({ id }) => id),
    );
    const priced = await pricesOf(tenant_id, unpriced, prices);
    if (priced.length > 0) await traces.price(tenant_id, priced);
  }

  /** Sets the ids of projects that are given by name. */
  async #resolveProjects(tenant_id: string, runs: NewRunWrite[]): Promise<void> {
    const names = new Set<string>();
    for (const { session_name } of runs) if (session_name !== undefined) names.add(session_name);
    if (names.size === 0) return;
    const ids = await this.#parts.projects.idsOf(tenant_id, names);
    for (const run of runs)
      if (run.session_name !== undefined) run.fields.session_id ??= ids.get(run.session_name) ?? null;
  }
}

/**
 * Stores all runs in one statement. If the database rejects it, despite all checks, the runs are stored in halves, recursively, until the
 * invalid run is isolated; the others are stored.
 */
const storeAll = async (
  runs: readonly TraceWrite[],
  attachments: readonly Attachment[],
  store: (runs: readonly TraceWrite[], attachments: readonly Attachment[]) => Promise<void>,
  rejections: Rejections,
): Promise<number> => {
  try {
    await store(runs, attachments);
    return runs.length;
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'invalid') throw error;
    if (runs.length + attachments.length <= 1) {
      rejections.add(runs[0]?.id ?? null, 'it contains a value that cannot be stored');
      return 0;
    }
  }
  const half = Math.ceil(runs.length / 2);
  const count = await storeAll(runs.slice(0, half), [], store, rejections);
  return count + (await storeAll(runs.slice(half), attachments, store, rejections));
};
