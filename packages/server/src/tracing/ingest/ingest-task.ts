// Parses the body of an ingest request to writes of trace runs. Small bodies are parsed on the main thread, large ones in a parser thread,
// which sends the result in slices that the main thread stores one at a time.
import { type Chunks, joined, moved } from '../../parsing/byte-blocks.ts';
import { JsonBudget, type JsonLimits } from '../../json/json-limits.ts';
import type { Attachment } from '../../storage/tracing/traces.ts';
import { isUuid } from '../../storage/postgres/uuid.ts';
import { type BatchSlice, type RunBatch, slicesOf } from './batch-slice.ts';
import { foldAll } from './fold.ts';
import { type OtlpRequest, readOtlp, type TracesOf } from './otlp/read-otlp.ts';
import { pathCharsMax, segmentOf } from './dotted-order.ts';
import { readBatch, readRun } from './read-json.ts';
import { type Batch, readParts } from './read-parts.ts';
import { type Rejections, RunRejected, type SentRun } from './sent-run.ts';
import { type NewRunWrite, toRunWrite } from './run-write.ts';

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

// Computes the dotted_order of runs that have only a parent_run_id, when the parent is in the same batch. Otherwise the database computes
// it later. OpenTelemetry spans have no dotted_order.

/** Has the result of adopt_orphans() after all runs are stored. */
export const assignPaths = (runs: readonly NewRunWrite[]): void => {
  if (!runs.some(lacksPath)) return;
  const byId = new Map(runs.map((run) => [run.id, run]));
  /** Runs without an ancestor that has a path, and runs in a cycle of parents. */
  const unresolvable = new Set<NewRunWrite | undefined>([undefined]);
  for (const run of runs) {
    // Walks up to the nearest ancestor with a path, then assigns paths on the way down.
    const chain = new Set<NewRunWrite>();
    let ancestor: NewRunWrite | undefined = run;
    while (
      ancestor !== undefined &&
      lacksPath(ancestor) &&
      !chain.has(ancestor) &&
      !unresolvable.has(ancestor)
    ) {
      chain.add(ancestor);
      ancestor = byId.get(String(ancestor.fields.parent_run_id));
    }
    let parent = ancestor;
    for (const child of [...chain].toReversed()) {
      if (unresolvable.has(parent) || !assignPath(child, parent)) unresolvable.add(child);
      parent = child;
    }
  }
};

/** True for a POST with a start and a parent but no path. A PATCH without a path (rank > 0) belongs to a run that has one. */
const lacksPath = ({ rank, fields, start_time }: NewRunWrite): boolean =>
  rank === 0 &&
  start_time !== null &&
  (fields.dotted_order ?? null) === null &&
  (fields.parent_run_id ?? null) !== null;

/** Returns false when the parent has no path, or the path becomes too long. */
const assignPath = ({ id, start_time, fields }: NewRunWrite, parent: NewRunWrite | undefined): boolean => {
  const { dotted_order, trace_id } = parent?.fields ?? {};
  if (typeof dotted_order !== 'string' || typeof trace_id !== 'string' || start_time === null) return false;
  const path = `${dotted_order}.${segmentOf(start_time, id)}`;
  if (path.length > pathCharsMax) return false;
  fields.dotted_order = path;
  fields.trace_id = trace_id;
  return true;
};
