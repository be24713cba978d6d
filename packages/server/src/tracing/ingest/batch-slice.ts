// Parts of a batch on their way between threads: what is bytes travels in one buffer, which changes hands instead of being copied.
import type { Cell } from '../../storage/postgres/column-array.ts';
import type { TraceField } from '../../storage/tracing/trace-columns.ts';
import type { Attachment } from '../../storage/tracing/traces.ts';
import type { RunBatch } from './run-batch.ts';
import type { NewRunWrite } from './run-write.ts';
import { Rejections } from './rejections.ts';
import type { Rejection } from './sent-run.ts';

/** A place in the bytes of a slice. */
type Place = readonly [start: number, end: number];

type PackedCell = string | null | Place;

type PackedRun = Omit<NewRunWrite, 'fields'> & { fields: Partial<Record<TraceField, PackedCell>> };
type PackedAttachment = Omit<Attachment, 'content'> & { content: Place };

export interface BatchSlice {
  runs: PackedRun[];
  attachments: PackedAttachment[];
  rejections: { named: Rejection[]; count: number };
  bytes: Uint8Array<ArrayBuffer>;
}

/** What the main thread takes at once: less than a hundred milliseconds of its time. */
const slice = { runs: 1_000, bytes: 4_194_304 };

/** Bytes that have been given a place. */
class Packer {
  readonly #parts: Uint8Array[] = [];
  #size = 0;

  add(part: Uint8Array): Place {
    this.#parts.push(part);
    this.#size += part.length;
    return [this.#size - part.length, this.#size];
  }

  bytes(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.#size);
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

/** The batch is emptied on the way. Attachments follow all runs, since they are stored only beside runs that are there. */
export function* slicesOf({ runs, attachments, rejections }: RunBatch): Iterable<BatchSlice> {
  const { named, count } = rejections;
  runs.reverse();
  attachments.reverse();
  do {
    const packer = new Packer();
    const part: BatchSlice = {
      runs: [],
      attachments: [],
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
    if (runs.length + attachments.length === 0) part.rejections = { named, count };
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

/** The part of the batch that a slice holds. */
export const unpack = ({ runs, attachments, rejections, bytes }: BatchSlice): RunBatch => {
  const at = ([start, end]: Place): Buffer => Buffer.from(bytes.buffer, start, end - start);
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
    rejections: rejected,
  };
};
