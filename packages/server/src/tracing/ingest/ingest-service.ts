// Stores the trace runs of ingest requests. The response is sent after the commit. A run that cannot be stored is listed in the response;
// the other runs of the request are stored.
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
  /** Retention of traces in days. */
  daysKept: number;
  observer?: IngestObserver;
}

/** What is needed to read requests, in addition to storing their runs. */
export interface ReadingParts {
  limits: JsonLimits;
  parser: TaskRunner<IngestTasks>;
  turns: LoopTurns;
  /** Called when a large body is no longer referenced. */
  collectSoon: () => void;
}

export interface IngestObserver {
  /** A batch was stored. `bytes`: size of the decompressed body; `ms`: duration. */
  batchTaken(batch: { runs: number; rejected: number; bytes: number; ms: number }): void;
  /** A batch was rejected with 429. */
  batchRefused(): void;
}

export interface IngestResult {
  /** Number of stored runs. */
  stored: number;
  rejections: Rejections;
}

/** Stores parsed runs. */
export class RunStore {
  readonly #parts: Omit<IngestParts, 'observer'>;

  constructor(parts: Omit<IngestParts, 'observer'>) {
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

/** Reads ingest requests and stores their runs. */
export class IngestService {
  readonly #parts: IngestParts & ReadingParts;
  readonly #store: RunStore;

  constructor(parts: IngestParts & ReadingParts) {
    this.#parts = parts;
    this.#store = new RunStore(parts);
  }

  /** Reads a body and stores its runs. Throws `invalid` when none of them can be stored. */
  async ingest(
    tenant_id: string,
    body: AsyncIterable<Uint8Array>,
    format: IngestFormat,
  ): Promise<IngestAnswer> {
    return toAnswer(await this.ingestPartially(tenant_id, body, format));
  }

  /** Like `ingest`, but returns the rejections even when no run can be stored. */
  async ingestPartially(
    tenant_id: string,
    body: AsyncIterable<Uint8Array>,
    format: IngestFormat,
  ): Promise<IngestResult> {
    const { admission, observer } = this.#parts;
    const startedMs = performance.now();
    const blocks = new ByteBlocks();
    try {
      const result = await admission.admit(body, async (counted) => {
        for await (const chunk of counted) blocks.add(chunk);
        return this.#read(tenant_id, blocks.take(), blocks.size, format);
      });
      const ms = performance.now() - startedMs;
      observer?.batchTaken({
        runs: result.stored,
        rejected: result.rejections.count,
        bytes: blocks.size,
        ms,
      });
      return result;
    } catch (error) {
      if (error instanceof Problem && error.code === 'rate_limited') observer?.batchRefused();
      throw error;
    }
  }

  /** Small bodies are parsed here; large ones, and those that exceed the budget for inline parsing, in a parser thread. */
  async #read(tenant_id: string, chunks: Chunks, bytes: number, format: IngestFormat): Promise<IngestResult> {
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

  async #readInThread(tenant_id: string, chunks: Chunks, format: IngestFormat): Promise<IngestResult> {
    const { limits, parser, traces } = this.#parts;
    const result: IngestResult = { stored: 0, rejections: new Rejections() };
    const store = async (batch: RunBatch): Promise<void> => {
      result.stored += await this.#store.store(tenant_id, batch);
      result.rejections.addAll(batch.rejections.named, batch.rejections.count);
    };
    const answer = async (question: IngestQuestion): Promise<unknown> => {
      if (question.kind === 'slice') return store(unpack(question.slice));
      return [...(await traces.otelTracesOf(tenant_id, question.run_ids))];
    };
    const input = { chunks, format, limits };
    await store(unpack(await parser.run('ingest', input, buffersOf(chunks), answer)));
    return result;
  }
}

/** Larger requests are parsed one per turn of the event loop; smaller ones immediately. */
const turnBytesMin = 65_536;

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

const toAnswer = ({ stored, rejections }: IngestResult): IngestAnswer => {
  const { named: errors, count } = rejections;
  if (count === 0) return { message: 'Runs were taken in' };
  if (stored === 0) {
    throw new Problem('invalid', 'No run of the request could be stored.', {
      faults: errors.map(({ id, message }) => ({
        loc: id === null ? ['body'] : ['body', id.slice(0, 100)],
        msg: message,
        type: 'run_invalid',
      })),
    });
  }
  return { message: `Runs were taken in; ${count} rejected`, errors };
};
