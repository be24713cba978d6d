// Takes in runs. What is answered has been committed; a run that cannot be taken in is named, and the others stand.
import type { IngestAnswer } from '@svc/contract';
import { Problem } from '@svc/contract/problem';
import { buffersOf, ByteBlocks } from '../../parsing/byte-blocks.ts';
import { BudgetExceeded, inlineBytesMax, inlineLimits, type JsonLimits } from '../../parsing/json-limits.ts';
import type { LoopTurns } from '../../parsing/loop-turns.ts';
import type { TaskRunner } from '../../parsing/tasks.ts';
import type { Chunks } from '../../parsing/byte-blocks.ts';
import type { Attachment, TraceWrite, TraceStorage } from '../../storage/tracing/traces.ts';
import { pricesOf } from '../prices/late-prices.ts';
import type { PriceService } from '../prices/price-service.ts';
import type { ProjectService } from '../projects/project-service.ts';
import type { Admission } from './admission.ts';
import { unpack } from './batch-slice.ts';
import { type IngestFormat, type IngestQuestion, type IngestTasks, readRuns } from './ingest-task.ts';
import { Rejections } from './rejections.ts';
import type { RunBatch } from './run-batch.ts';
import type { NewRunWrite } from './run-write.ts';

export interface IngestParts {
  traces: TraceStorage;
  projects: ProjectService;
  prices: PriceService;
  admission: Admission;
  /** Days for which traces are kept. */
  daysKept: number;
  observer?: IngestObserver;
}

/** What reading requests takes, beside what storing their runs takes. */
export interface ReadingParts {
  limits: JsonLimits;
  parser: TaskRunner<IngestTasks>;
  turns: LoopTurns;
  /** A large body is no longer used. */
  collectSoon: () => void;
}

export interface IngestObserver {
  /** A body was taken in, in this time; `bytes`: unpacked. */
  batchTaken(batch: { runs: number; rejected: number; bytes: number; ms: number }): void;
  /** A body was not, for there was no room. */
  batchRefused(): void;
}

export interface Taken {
  /** How many runs. */
  stored: number;
  rejections: Rejections;
}

/** Stores runs that have been read. */
export class RunStore {
  readonly #parts: Omit<IngestParts, 'observer'>;

  constructor(parts: Omit<IngestParts, 'observer'>) {
    this.#parts = parts;
  }

  /** Stores what it can; the rest is added to the rejections. Returns how many runs are stored. */
  async store(tenant_id: string, { runs, attachments, rejections }: RunBatch): Promise<number> {
    const { admission, traces, prices, daysKept } = this.#parts;
    if (runs.length + attachments.length === 0) return 0;
    let lacksPrices = false;
    const store = async (part: readonly TraceWrite[], files: readonly Attachment[]): Promise<void> => {
      const lacks = await traces.ingest(tenant_id, part, files, daysKept);
      lacksPrices ||= lacks;
    };
    // All that a batch asks of the database is one turn: it takes one connection at a time, and no more than turns there are.
    return admission.write(async () => {
      await this.#name(tenant_id, runs);
      await prices.price(tenant_id, runs);
      const stored = await storeAll(runs, attachments, store, rejections);
      if (lacksPrices) await this.#priceStored(tenant_id, runs);
      return stored;
    });
  }

  /** Prices runs whose model and tokens came in different writes. */
  async #priceStored(tenant_id: string, runs: readonly TraceWrite[]): Promise<void> {
    const { traces, prices } = this.#parts;
    const unpriced = await traces.unpriced(
      tenant_id,
      runs.map(({ id }) => id),
    );
    const priced = await pricesOf(tenant_id, unpriced, prices);
    if (priced.length > 0) await traces.price(tenant_id, priced);
  }

  async #name(tenant_id: string, runs: NewRunWrite[]): Promise<void> {
    const names = new Set<string>();
    for (const { session_name } of runs) if (session_name !== undefined) names.add(session_name);
    if (names.size === 0) return;
    const ids = await this.#parts.projects.idsOf(tenant_id, names);
    for (const run of runs)
      if (run.session_name !== undefined) run.fields.session_id ??= ids.get(run.session_name) ?? null;
  }
}

/** Requests with runs. */
export class IngestService {
  readonly #parts: IngestParts & ReadingParts;
  readonly #store: RunStore;

  constructor(parts: IngestParts & ReadingParts) {
    this.#parts = parts;
    this.#store = new RunStore(parts);
  }

  /** Reads a body and takes in what it holds. */
  async ingest(
    tenant_id: string,
    body: AsyncIterable<Uint8Array>,
    format: IngestFormat,
  ): Promise<IngestAnswer> {
    return toAnswer(await this.take(tenant_id, body, format));
  }

  /** The same; nothing that is wrong with single runs is a Problem, even when it is wrong with all. */
  async take(tenant_id: string, body: AsyncIterable<Uint8Array>, format: IngestFormat): Promise<Taken> {
    const { admission, observer } = this.#parts;
    const startedMs = performance.now();
    const blocks = new ByteBlocks();
    try {
      const taken = await admission.admit(body, async (counted) => {
        for await (const chunk of counted) blocks.add(chunk);
        return this.#read(tenant_id, blocks.take(), blocks.size, format);
      });
      const ms = performance.now() - startedMs;
      observer?.batchTaken({ runs: taken.stored, rejected: taken.rejections.count, bytes: blocks.size, ms });
      return taken;
    } catch (error) {
      if (error instanceof Problem && error.code === 'rate_limited') observer?.batchRefused();
      throw error;
    }
  }

  /** What is small is read here, what is large, or takes more than its size tells, in a parser thread. */
  async #read(tenant_id: string, chunks: Chunks, bytes: number, format: IngestFormat): Promise<Taken> {
    const { limits, traces, turns } = this.#parts;
    if (bytes > inlineBytesMax) return this.#readInThread(tenant_id, chunks, format);
    if (bytes > turnBytesMin) await turns.next();
    let batch: RunBatch;
    try {
      const input = { chunks: [...chunks], format, limits: inlineLimits(limits) };
      batch = await readRuns(input, (run_ids) => traces.otelTracesOf(tenant_id, run_ids));
    } catch (error) {
      if (!(error instanceof BudgetExceeded)) throw error;
      return this.#readInThread(tenant_id, chunks, format);
    }
    return { stored: await this.#store.store(tenant_id, batch), rejections: batch.rejections };
  }

  async #readInThread(tenant_id: string, chunks: Chunks, format: IngestFormat): Promise<Taken> {
    const { limits, parser, traces } = this.#parts;
    const taken: Taken = { stored: 0, rejections: new Rejections() };
    const take = async (batch: RunBatch): Promise<void> => {
      taken.stored += await this.#store.store(tenant_id, batch);
      taken.rejections.addAll(batch.rejections.named, batch.rejections.count);
    };
    const answer = async (question: IngestQuestion): Promise<unknown> => {
      if (question.kind === 'slice') return take(unpack(question.slice));
      return [...(await traces.otelTracesOf(tenant_id, question.run_ids))];
    };
    const input = { chunks, format, limits };
    await take(unpack(await parser.run('ingest', input, buffersOf(chunks), answer)));
    return taken;
  }
}

/** Smaller requests are read at once, however many come in one turn of the event loop. */
const turnBytesMin = 65_536;

/** A run that the database refuses, against all checks, is found by halves: it must not take the others with it. */
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
      rejections.add(runs[0]?.id ?? null, 'it holds a value that cannot be stored');
      return 0;
    }
  }
  const half = Math.ceil(runs.length / 2);
  const count = await storeAll(runs.slice(0, half), [], store, rejections);
  return count + (await storeAll(runs.slice(half), attachments, store, rejections));
};

const toAnswer = ({ stored, rejections }: Taken): IngestAnswer => {
  const { named: errors, count } = rejections;
  if (count === 0) return { message: 'Runs were taken in' };
  if (stored === 0) {
    throw new Problem('invalid', 'Nothing of this could be taken in.', {
      faults: errors.map(({ id, message }) => ({
        loc: id === null ? ['body'] : ['body', id.slice(0, 100)],
        msg: message,
        type: 'run_invalid',
      })),
    });
  }
  return { message: `Runs were taken in; ${count} rejected`, errors };
};
