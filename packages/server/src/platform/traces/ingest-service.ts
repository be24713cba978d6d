// Takes in runs. What is answered has been committed; a run that cannot be taken in is named, and the others stand.
import type { IngestAnswer } from '@svc/contract';
import { Problem } from '@svc/contract/problem';
import type { Attachment, RunWrite, TraceStorage } from '../../storage/traces.ts';
import { pricesOf } from '../prices/late-prices.ts';
import type { PriceService } from '../prices/price-service.ts';
import type { ProjectService } from '../projects/project-service.ts';
import type { Admission } from './admission.ts';
import { foldAll } from './fold.ts';
import type { Batch } from './read-parts.ts';
import { placeAll } from './place.ts';
import { type NewRunWrite, toRunWrite } from './run-write.ts';
import { type Rejection, RunRejected } from './sent-run.ts';

export interface IngestParts {
  traces: TraceStorage;
  projects: ProjectService;
  prices: PriceService;
  admission: Admission;
  /** Days for which traces are kept. */
  daysKept: number;
  observer?: IngestObserver;
}

export interface IngestObserver {
  /** A body was taken in, in this time; `bytes`: unpacked. */
  batchTaken(batch: { runs: number; rejected: number; bytes: number; ms: number }): void;
  /** A body was not, for there was no room. */
  batchRefused(): void;
}

/** How many errors are told: a batch may have thousands. */
const rejectionsMax = 100;
const attachmentNameCharsMax = 256;

export type ReadBatch = (body: AsyncIterable<Uint8Array>) => Promise<Batch>;

export interface Taken {
  /** How many runs. */
  stored: number;
  rejections: Rejection[];
}

export class IngestService {
  readonly #parts: IngestParts;

  constructor(parts: IngestParts) {
    this.#parts = parts;
  }

  /** Reads a body and takes in what it holds. */
  async ingest(tenant_id: string, body: AsyncIterable<Uint8Array>, read: ReadBatch): Promise<IngestAnswer> {
    return toAnswer(await this.take(tenant_id, body, read));
  }

  /** The same; nothing that is wrong with single runs is a Problem, even when it is wrong with all. */
  async take(tenant_id: string, body: AsyncIterable<Uint8Array>, read: ReadBatch): Promise<Taken> {
    const { admission, observer } = this.#parts;
    const startedMs = performance.now();
    let bytes = 0;
    const measured = async function* (chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        yield chunk;
      }
    };
    try {
      const taken = await admission.admit(body, async (counted) =>
        this.takeBatch(tenant_id, await read(measured(counted))),
      );
      const ms = performance.now() - startedMs;
      observer?.batchTaken({ runs: taken.stored, rejected: taken.rejections.length, bytes, ms });
      return taken;
    } catch (error) {
      if (error instanceof Problem && error.code === 'rate_limited') observer?.batchRefused();
      throw error;
    }
  }

  /** Takes in what was read, or made here. */
  async takeBatch(tenant_id: string, batch: Batch): Promise<Taken> {
    const { admission, traces, prices, daysKept } = this.#parts;
    const rejections = [...batch.rejections];
    const said: NewRunWrite[] = [];
    for (const sent of batch.runs) {
      try {
        said.push(toRunWrite(sent));
      } catch (error) {
        if (!(error instanceof RunRejected)) throw error;
        rejections.push({ id: sent.id, message: error.message });
      }
    }
    const attachments = batch.attachments.filter((one) => isAttachable(one, rejections));
    const runs = foldAll(said);
    placeAll(runs);
    if (runs.length + attachments.length === 0) return { stored: 0, rejections };
    // All that a batch asks of the database is one turn: it takes one connection at a time, and no more than turns there are.
    const stored = await admission.write(async () => {
      await this.#name(tenant_id, runs);
      await prices.price(tenant_id, runs);
      let lacksPrices = false;
      const store = async (part: readonly RunWrite[], files: readonly Attachment[]): Promise<void> => {
        const lacks = await traces.ingest(tenant_id, part, files, daysKept);
        lacksPrices ||= lacks;
      };
      const count = await storeAll(runs, attachments, store, rejections);
      if (lacksPrices) await this.#priceStored(tenant_id, runs);
      return count;
    });
    return { stored, rejections };
  }

  /** Prices runs whose model and tokens came in different writes. */
  async #priceStored(tenant_id: string, runs: readonly RunWrite[]): Promise<void> {
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

const isAttachable = ({ run_id, name }: Attachment, rejections: Rejection[]): boolean => {
  const isFit =
    /^[0-9a-f-]{36}$/.test(run_id) && name.length <= attachmentNameCharsMax && !name.includes('\0');
  if (!isFit) rejections.push({ id: null, message: 'an attachment has no run or no name that can be kept' });
  return isFit;
};

/** A run that the database refuses, against all checks, is found by halves: it must not take the others with it. */
const storeAll = async (
  runs: readonly RunWrite[],
  attachments: readonly Attachment[],
  store: (runs: readonly RunWrite[], attachments: readonly Attachment[]) => Promise<void>,
  rejections: Rejection[],
): Promise<number> => {
  try {
    await store(runs, attachments);
    return runs.length;
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'invalid') throw error;
    if (runs.length + attachments.length <= 1) {
      rejections.push({ id: runs[0]?.id ?? null, message: 'it holds a value that cannot be stored' });
      return 0;
    }
  }
  const half = Math.ceil(runs.length / 2);
  const count = await storeAll(runs.slice(0, half), [], store, rejections);
  return count + (await storeAll(runs.slice(half), attachments, store, rejections));
};

const toAnswer = ({ stored, rejections }: Taken): IngestAnswer => {
  if (rejections.length === 0) return { message: 'Runs were taken in' };
  const errors = rejections.slice(0, rejectionsMax);
  if (stored === 0) {
    throw new Problem('invalid', 'Nothing of this could be taken in.', {
      faults: errors.map(({ id, message }) => ({
        loc: id === null ? ['body'] : ['body', id],
        msg: message,
        type: 'run_invalid',
      })),
    });
  }
  return { message: `Runs were taken in, and ${rejections.length} things were not`, errors };
};
