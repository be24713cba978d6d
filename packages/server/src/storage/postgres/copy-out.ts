// Reads rows with PostgreSQL's binary COPY. For an ordinary result the driver turns every value into a JavaScript string. Exports
// only pass values on, so they avoid that cost: they get the bytes of each row as it arrives.
import type pg from 'pg';

/** The values of a row: value `i` is the bytes from `ends[i] - lengths[i]` to `ends[i]`. A length of -1 is null. */
export interface RowBytes {
  bytes: Buffer;
  ends: Int32Array;
  lengths: Int32Array;
}

/** The row is valid only during the call. An error that the callback throws ends the statement. */
export type OnRow = (row: RowBytes) => void;

const signature = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1');
const flagBytes = 4;
const trailer = -1;

/** A `copy … to stdout (format binary)`, for `client.query`. PostgreSQL sends one row in each message. */
export class CopyOut implements pg.Submittable {
  readonly done: Promise<void>;
  /** The driver calls it with an error when its `query_timeout` has passed. */
  callback: (error?: unknown) => void;
  readonly #text: string;
  readonly #onRow: OnRow;
  readonly #row: RowBytes = { bytes: Buffer.alloc(0), ends: new Int32Array(0), lengths: new Int32Array(0) };
  #hasBegun = false;
  #failure: { error: unknown } | undefined;

  constructor(text: string, onRow: OnRow) {
    this.#text = text;
    this.#onRow = onRow;
    const { promise, resolve, reject } = withResolvers();
    this.done = promise;
    this.callback = (error) => {
      if (this.#failure) reject(this.#failure.error);
      else if (error === undefined) resolve();
      else reject(error);
    };
  }

  submit(connection: pg.Connection): void {
    connection.query(this.#text);
  }

  handleCopyData({ chunk }: { chunk: Buffer }, connection: pg.Connection): void {
    if (this.#failure) return;
    try {
      this.#take(chunk);
    } catch (error) {
      this.#failure = { error };
      // The protocol has no message that ends a COPY early, so the connection is closed.
      connection.stream.destroy();
    }
  }

  #take(chunk: Buffer): void {
    let at = 0;
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      if (!chunk.subarray(0, signature.length).equals(signature))
        throw new Error('COPY sends no binary rows');
      at = signature.length + flagBytes;
      at += 4 + chunk.readInt32BE(at);
    }
    if (at === chunk.length) return;
    const count = chunk.readInt16BE(at);
    at += 2;
    if (count === trailer) return;
    const row = this.#row;
    if (row.ends.length !== count) {
      row.ends = new Int32Array(count);
      row.lengths = new Int32Array(count);
    }
    for (let index = 0; index < count; index++) {
      const length = chunk.readInt32BE(at);
      at += 4 + Math.max(0, length);
      row.lengths[index] = length;
      row.ends[index] = at;
    }
    if (at !== chunk.length) throw new Error('COPY sent a message that is not one row');
    row.bytes = chunk;
    this.#onRow(row);
  }

  handleError(error: unknown): void {
    this.callback(error);
  }

  handleReadyForQuery(): void {
    this.callback();
  }

  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleCommandComplete(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyInResponse(): void {}
}

const withResolvers = (): {
  promise: Promise<void>;
  resolve: () => void;
  reject: (error: unknown) => void;
} => {
  let resolve = (): void => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
};
