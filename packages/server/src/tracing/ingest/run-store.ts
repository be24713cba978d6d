// Stores parsed trace runs: those of ingest requests, and those of the server's own runs.
import type { Attachment, TraceStorage, TraceWrite } from '../../storage/tracing/traces.ts';
import type { PriceService } from '../prices/price-service.ts';
import type { ProjectService } from '../projects/project-service.ts';
import type { Admission } from './admission.ts';
import type { Rejections } from './sent-run.ts';
import type { RunBatch } from './batch-slice.ts';
import type { NewRunWrite } from './run-write.ts';
import { type OnRefused, type RefusedItems, storeInParts } from './split-store.ts';
import type { PricedTraceRun, UnpricedTraceRun } from '../../storage/tracing/unpriced-runs.ts';

export interface StoreParts {
  traces: TraceStorage;
  projects: ProjectService;
  prices: PriceService;
  admission: Admission;
  /** Retention of traces in days. */
  daysKept: number;
  onRefused: OnRefused;
}

/** Numbers of stored items. */
export interface StoredItems {
  runs: number;
  attachments: number;
}

export class RunStore {
  readonly #parts: StoreParts;

  constructor(parts: StoreParts) {
    this.#parts = parts;
  }

  /** Stores all valid runs and attachments; adds the others to the rejections. Returns the numbers of stored ones. */
  async store(tenant_id: string, batch: RunBatch): Promise<StoredItems> {
    const { admission, traces, prices, daysKept, onRefused } = this.#parts;
    const { runs, rejections } = batch;
    const items = itemsOf(batch);
    if (items.length === 0) return { runs: 0, attachments: 0 };
    let lacksPrices = false;
    const store = async (part: readonly Item[]): Promise<void> => {
      const lacks = await traces.ingest(tenant_id, runsOf(part), filesOf(part), daysKept);
      lacksPrices ||= lacks;
    };
    // The whole batch is one unit of admission: it uses one connection at a time, so `writersMax` bounds the connections.
    return admission.write(async () => {
      await this.#resolveProjects(tenant_id, runs);
      await prices.price(tenant_id, runs);
      const refused = await storeInParts(items, store, onRefused);
      for (const one of refused) reject(one, rejections);
      if (lacksPrices) await this.#priceStored(tenant_id, runs);
      const lost = refused.flatMap((one) => one.items);
      return {
        runs: runs.length - runsOf(lost).length,
        attachments: batch.attachments.length - filesOf(lost).length,
      };
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

/** A run or an attachment. */
type Item = { run: NewRunWrite } | { file: Attachment };

/** Runs come before attachments, because attachments are stored only for stored runs. */
const itemsOf = ({ runs, attachments }: RunBatch): Item[] => [
  ...runs.map((run) => ({ run })),
  ...attachments.map((file) => ({ file })),
];

const runsOf = (items: readonly Item[]): NewRunWrite[] =>
  items.flatMap((item) => ('run' in item ? [item.run] : []));

const filesOf = (items: readonly Item[]): Attachment[] =>
  items.flatMap((item) => ('file' in item ? [item.file] : []));

const reject = ({ items, isUnsplit }: RefusedItems<Item>, rejections: Rejections): void => {
  const reason = isUnsplit
    ? 'not stored, because too many items of the request contain values that cannot be stored; send it in smaller requests'
    : 'contains a value that cannot be stored';
  for (const { id } of runsOf(items)) rejections.add(id, `it ${isUnsplit ? 'was ' : ''}${reason}`);
  for (const { run_id, name } of filesOf(items))
    rejections.add(run_id, `its attachment ${JSON.stringify(name)} ${isUnsplit ? 'was ' : ''}${reason}`);
};

// Prices stored runs whose model and tokens came in different writes. They can be priced after the second write.

const toWrite = (run: UnpricedTraceRun): TraceWrite => {
  const { id, model, start_time, metadata, usage_details } = run;
  const text = (count: number | null): string | null => (count === null ? null : String(count));
  return {
    id,
    rank: 0,
    patched: 0,
    writes: [],
    start_time,
    metadata,
    fields: {
      model,
      run_type: 'llm',
      usage_details,
      prompt_tokens: text(run.prompt_tokens),
      completion_tokens: text(run.completion_tokens),
      total_tokens: text(run.total_tokens),
    },
  };
};

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** Returns the runs for which there is a price, with their costs. */
const pricesOf = async (
  tenant_id: string,
  runs: readonly UnpricedTraceRun[],
  prices: PriceService,
): Promise<PricedTraceRun[]> => {
  const writes = runs.map(toWrite);
  await prices.price(tenant_id, writes);
  return runs.flatMap((run, at) => {
    const { total_cost, prompt_cost, completion_cost, usage_details } = writes[at]?.fields ?? {};
    if (typeof total_cost !== 'string') return [];
    return [
      {
        ...run,
        total_cost,
        prompt_cost: textOf(prompt_cost),
        completion_cost: textOf(completion_cost),
        priced_details: textOf(usage_details),
      },
    ];
  });
};
