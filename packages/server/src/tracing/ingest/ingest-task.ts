// Parses the body of an ingest request to writes of trace runs. Small bodies are parsed on the main thread, large ones in a parser thread,
// which sends the result in slices that the main thread stores one at a time.
import { type Chunks, joined, moved } from '../../parsing/byte-blocks.ts';
import { JsonBudget, type JsonLimits } from '../../json/json-limits.ts';
import type { Attachment } from '../../storage/tracing/traces.ts';
import { isUuid } from '../../storage/postgres/uuid.ts';
import { type BatchSlice, type RunBatch, slicesOf } from './batch-slice.ts';
import { foldAll } from './fold.ts';
import { type OtlpRequest, readOtlp, type TracesOf } from './otlp/read-otlp.ts';
import { assignPaths } from './assign-paths.ts';
import { readBatch, readRun } from './read-json.ts';
import { type Batch, readParts } from './read-parts.ts';
import type { Rejections } from './rejections.ts';
import { type NewRunWrite, toRunWrite } from './run-write.ts';
import { RunRejected, type SentRun } from './sent-run.ts';

export type { BatchSlice } from './batch-slice.ts';

/** The format of a request's body. */
export type IngestFormat =
  | { kind: 'multipart'; boundary: string }
  | { kind: 'batch' }
  | { kind: 'run'; operation: SentRun['operation']; id: string | undefined }
  | ({ kind: 'otlp' } & OtlpRequest);

export interface IngestInput {
  chunks: Chunks;
  format: IngestFormat;
  limits: JsonLimits;
}

/** Requests from a parser thread to the main thread. */
export type IngestQuestion =
  /** For the OpenTelemetry trace ids of stored runs. The answer is the entries of a map. */
  | { kind: 'traces'; run_ids: string[] }
  /** To store a part of the batch. The answer is sent when the main thread is ready for the next. */
  | { kind: 'slice'; slice: BatchSlice };

/** The tasks of parser threads. */
export interface IngestTasks {
  ingest: { input: IngestInput; question: IngestQuestion; output: BatchSlice };
}

/** Throws a Problem when the body is malformed. Invalid single runs are added to the rejections. */
export const readRuns = async (
  { chunks, format, limits }: IngestInput,
  tracesOf: TracesOf,
): Promise<RunBatch> => {
  const budget = new JsonBudget(limits);
  if (format.kind === 'multipart') return toRunBatch(readParts(chunks, format.boundary, budget));
  const bytes = joined(chunks.splice(0));
  switch (format.kind) {
    case 'batch':
      return toRunBatch(readBatch(bytes, budget));
    case 'run':
      return toRunBatch(readRun(bytes, format.operation, format.id, budget));
    case 'otlp':
      return toRunBatch(await readOtlp(bytes, format, budget, tracesOf));
  }
};

/** Validates the runs, and merges the writes of each. */
export const toRunBatch = ({ runs, attachments, feedback, rejections }: Batch): RunBatch => {
  const writes: NewRunWrite[] = [];
  for (const sent of runs) {
    try {
      writes.push(toRunWrite(sent));
      for (const note of sent.notes ?? []) rejections.note(sent.id, note);
    } catch (error) {
      if (!(error instanceof RunRejected)) throw error;
      rejections.add(sent.id, error.message);
    }
  }
  const folded = foldAll(writes);
  assignPaths(folded);
  return {
    runs: folded,
    attachments: attachments.filter((one) => isAttachable(one, rejections)),
    feedback: feedback.all,
    rejections,
  };
};

const attachmentNameCharsMax = 256;

const isAttachable = ({ run_id, name }: Attachment, rejections: Rejections): boolean => {
  const isValid = isUuid(run_id) && name.length <= attachmentNameCharsMax;
  if (!isValid)
    rejections.add(
      null,
      `an attachment must have the UUID of a run, and a name of at most ${attachmentNameCharsMax} characters`,
    );
  return isValid;
};

/** Executes the task in a parser thread. */
export const ingestTask = async (
  input: IngestInput,
  ask: (question: unknown, transfer?: ArrayBuffer[]) => Promise<unknown>,
): Promise<{ output: BatchSlice; transfer: ArrayBuffer[] }> => {
  // The whole body is here. Multipart bodies are read without joining their chunks.
  const chunks = input.format.kind === 'multipart' ? input.chunks : [moved(input.chunks)];
  const batch = await readRuns(
    { ...input, chunks },
    async (run_ids) => new Map((await ask({ kind: 'traces', run_ids })) as [string, string][]),
  );
  let last: BatchSlice | undefined;
  for (const slice of slicesOf(batch)) {
    if (last) await ask({ kind: 'slice', slice: last }, [last.bytes.buffer]);
    last = slice;
  }
  if (!last) throw new Error('A batch has at least one slice');
  return { output: last, transfer: [last.bytes.buffer] };
};
