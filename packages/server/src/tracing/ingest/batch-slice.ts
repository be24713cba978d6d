// Packs parts of a batch to send them from a parser thread to the main thread. All bytes of a slice are in one buffer, which is
// transferred instead of copied.
import { mappedBytes } from '../../parsing/mapped-bytes.ts';
import type { Cell } from '../../storage/postgres/column-array.ts';
import type { TraceField } from '../../storage/tracing/trace-columns.ts';
import type { Attachment } from '../../storage/tracing/traces.ts';
import type { NewRunWrite } from './run-write.ts';
import { type Rejection, Rejections, type SentFeedback } from './sent-run.ts';

/** A range in the bytes of a slice. */
type Range = readonly [start: number, end: number];

type PackedCell = string | null | Range;

type PackedRun = Omit<NewRunWrite, 'fields'> & { fields: Partial<Record<TraceField, PackedCell>> };
type PackedFeedback = Omit<SentFeedback, 'content'> & { content: Range };
type PackedAttachment = Omit<Attachment, 'content'> & { content: Range };

export interface BatchSlice {
  runs: PackedRun[];
  attachments: PackedAttachment[];
  feedback: PackedFeedback[];
  rejections: { named: Rejection[]; count: number };
  bytes: Uint8Array<ArrayBuffer>;
}

/** Maximum size of a slice. The main thread stores one in less than 100 ms. */
const slice = { runs: 1_000, bytes: 4_194_304 };

/** Collects byte arrays, and assigns each a range in one buffer. */
class Packer {
  readonly #parts: Uint8Array[] = [];
  #size = 0;

  add(part: Uint8Array): Range {
    this.#parts.push(part);
    this.#size += part.length;
    return [this.#size - part.length, this.#size];
  }

  bytes(): Uint8Array<ArrayBuffer> {
    const bytes = mappedBytes(this.#size);
    let at = 0;
    for (const part of this.#parts) {
      bytes.set(part, at);
      at += part.length;
    }
    return bytes;
  }
}

const sizeOf = (cell: Cell | undefined): number => cell?.length ?? 0;

const sizeOfRun = ({ fields }: NewRunWrite): number =>
  Object.values(fields).reduce((sum: number, cell) => sum + sizeOf(cell), 0);

/**
 * Removes the contents from the batch while it yields them. Attachments follow all runs, because they are stored only for stored runs.
 * Feedback is in the last slice.
 */
export function* slicesOf({ runs, attachments, feedback, rejections }: RunBatch): Iterable<BatchSlice> {
  const { named, count } = rejections;
  runs.reverse();
  attachments.reverse();
  do {
    const packer = new Packer();
    const part: BatchSlice = {
      runs: [],
      attachments: [],
      feedback: [],
      rejections: { named: [], count: 0 },
      bytes: new Uint8Array(),
    };
    let size = 0;
    for (let run = runs.pop(); run; run = next(runs, part.runs.length, size)) {
      size += sizeOfRun(run);
      part.runs.push(packRun(run, packer));
    }
    while (runs.length === 0 && attachments.length > 0 && size < slice.bytes) {
      const attachment = attachments.pop();
      if (!attachment) break;
      size += attachment.content.length;
      part.attachments.push({ ...attachment, content: packer.add(attachment.content) });
    }
    if (runs.length + attachments.length === 0) {
      part.rejections = { named, count };
      part.feedback = feedback.map(({ id, content }) => ({ id, content: packer.add(content) }));
    }
    part.bytes = packer.bytes();
    yield part;
  } while (runs.length + attachments.length > 0);
}

const next = (runs: NewRunWrite[], count: number, size: number): NewRunWrite | undefined =>
  count < slice.runs && size < slice.bytes ? runs.pop() : undefined;

const packRun = ({ fields, ...run }: NewRunWrite, packer: Packer): PackedRun => {
  const packed: PackedRun['fields'] = {};
  for (const [name, cell] of Object.entries(fields) as [TraceField, Cell | undefined][])
    packed[name] = cell instanceof Uint8Array ? packer.add(cell) : (cell ?? null);
  return { ...run, fields: packed };
};

/** Returns the part of the batch that a slice contains. */
export const unpack = ({ runs, attachments, feedback, rejections, bytes }: BatchSlice): RunBatch => {
  const at = ([start, end]: Range): Buffer => Buffer.from(bytes.buffer, start, end - start);
  const rejected = new Rejections();
  rejected.addAll(rejections.named, rejections.count);
  return {
    runs: runs.map(({ fields, ...run }) => {
      const unpacked: NewRunWrite['fields'] = {};
      for (const [name, cell] of Object.entries(fields) as [TraceField, PackedCell][])
        unpacked[name] = typeof cell === 'string' || cell === null ? cell : at(cell);
      return { ...run, fields: unpacked };
    }),
    attachments: attachments.map(({ content, ...rest }) => ({ ...rest, content: at(content) })),
    feedback: feedback.map(({ content, ...rest }) => ({ ...rest, content: at(content) })),
    rejections: rejected,
  };
};

/** A batch with validated runs, one write for each. Its feedback is not validated. */
export interface RunBatch {
  runs: NewRunWrite[];
  attachments: Attachment[];
  feedback: SentFeedback[];
  rejections: Rejections;
}
