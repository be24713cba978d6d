import type { StateValue } from '@svc/sdk';

type Entry = NonNullable<StateValue['entries']>[number];
type Shape = Pick<Entry, 'type' | 'length' | 'digest' | 'preview'>;

/** A thread at one of its checkpoints. */
export interface StateAt {
  threadId: string;
  checkpointId: string | undefined;
}

/** A part of a state that is too large to be sent with it: a list, an object or a text. It is read when it is opened. */
export class StoredPart {
  readonly at: StateAt;
  /** Names and indexes, from the outside in. */
  readonly path: readonly string[];
  readonly type: Entry['type'];
  /** Elements, members or characters. */
  readonly length: number;
  /** The beginning of a text. */
  readonly preview: string;
  /** Parts with the same digest have the same JSON. Undefined where it is unknown. */
  readonly digest: string | undefined;
  /** The first element that is shown. */
  readonly from: number;

  constructor(at: StateAt, path: readonly string[], entry: Shape, from = 0) {
    this.at = at;
    this.path = path;
    this.type = entry.type;
    this.length = entry.length ?? 0;
    this.preview = entry.preview ?? '';
    this.digest = entry.digest;
    this.from = from;
  }

  /** The same list without its first elements. */
  startingAt(from: number): StoredPart {
    const { at, path, type, length, preview, digest } = this;
    return new StoredPart(at, path, { type, length, preview, digest }, from);
  }
}

/** The entries of an answer: values where the answer has them whole, and parts that can be read. */
export const entriesIn = (
  { at, path }: Pick<StoredPart, 'at' | 'path'>,
  { entries = [] }: StateValue,
): [string, unknown][] =>
  entries.map((entry) => [
    entry.key,
    'value' in entry ? entry.value : new StoredPart(at, [...path, entry.key], entry),
  ]);
