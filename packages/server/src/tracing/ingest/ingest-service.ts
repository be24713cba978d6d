// Stores the trace runs of ingest requests, and the feedback that comes with them. The response is sent after the commit. What cannot be
// stored is listed in the response; the rest of the request is stored.
import type { IngestAnswer } from '@svc/contract';
import { Problem } from '@svc/contract/problem';
import { buffersOf, ByteBlocks, type Chunks } from '../../parsing/byte-blocks.ts';
import { BudgetExceeded, inlineBytesMax, inlineLimits, type JsonLimits } from '../../json/json-limits.ts';
import type { LoopTurns } from '../../parsing/loop-turns.ts';
import type { TaskRunner } from '../../parsing/tasks.ts';
import { type RunBatch, unpack } from './batch-slice.ts';
import { type IngestFormat, type IngestQuestion, type IngestTasks, readRuns } from './ingest-task.ts';
import { Rejections, type SentFeedback } from './sent-run.ts';
import { RunStore, type StoreParts } from './run-store.ts';

export interface IngestParts extends StoreParts {
  /** Stores feedback that came with runs; adds invalid feedback to the rejections. Returns how many were stored. */
  storeFeedback: (
    tenant_id: string,
    feedback: readonly SentFeedback[],
    rejections: Rejections,
  ) => Promise<number>;
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
  /** Number of stored attachments. */
  attachments: number;
  /** Number of stored feedback. */
  feedback: number;
  rejections: Rejections;
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
    return this.#storeBatch(tenant_id, batch);
  }

  async #readInThread(tenant_id: string, chunks: Chunks, format: IngestFormat): Promise<IngestResult> {
    const { limits, parser, traces } = this.#parts;
    const result: IngestResult = { stored: 0, attachments: 0, feedback: 0, rejections: new Rejections() };
    const store = async (batch: RunBatch): Promise<void> => {
      const { stored, attachments, feedback, rejections } = await this.#storeBatch(tenant_id, batch);
      result.stored += stored;
      result.attachments += attachments;
      result.feedback += feedback;
      result.rejections.addAll(rejections.named, rejections.count);
    };
    const answer = async (question: IngestQuestion): Promise<unknown> => {
      if (question.kind === 'slice') return store(unpack(question.slice));
      return [...(await traces.otelTracesOf(tenant_id, question.run_ids))];
    };
    const input = { chunks, format, limits };
    await store(unpack(await parser.run('ingest', input, buffersOf(chunks), answer)));
    return result;
  }

  async #storeBatch(tenant_id: string, batch: RunBatch): Promise<IngestResult> {
    const { rejections } = batch;
    const { runs: stored, attachments } = await this.#store.store(tenant_id, batch);
    const feedback = await this.#parts.storeFeedback(tenant_id, batch.feedback, rejections);
    return { stored, attachments, feedback, rejections };
  }
}

/** Larger requests are parsed one per turn of the event loop; smaller ones immediately. */
const turnBytesMin = 65_536;

const toAnswer = ({ stored, attachments, feedback, rejections }: IngestResult): IngestAnswer => {
  const { named: errors, count } = rejections;
  if (errors.length === 0) return { message: 'Runs were taken in' };
  if (count === 0) return { message: 'Runs were taken in; some of their payloads as text', errors };
  if (stored + attachments + feedback === 0) {
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
