// Streams of PostgreSQL's COPY, for `client.query`. Bytes pass through without being parsed, and a slow disk slows the server down.
import { Readable, Writable } from 'node:stream';
import type pg from 'pg';

/** The driver has these methods; its types lack them. */
interface CopyConnection extends pg.Connection {
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

/** The number in `COPY 42`. */
const rowsOf = (text: string): number => Number(text.split(' ').at(-1));

/** The output of a `copy … to stdout`. */
export class CopyReadable extends Readable implements pg.Submittable {
  /** Known when the stream has ended. */
  rows = 0;
  readonly #text: string;
  #connection: pg.Connection | undefined;

  constructor(text: string) {
    super();
    this.#text = text;
  }

  submit(connection: pg.Connection): void {
    this.#connection = connection;
    connection.query(this.#text);
  }

  override _read(): void {
    this.#connection?.stream.resume();
  }

  /** The protocol has no message that ends a COPY early, so the connection is closed. */
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.readableEnded && error !== null) this.#connection?.stream.destroy();
    done(error);
  }

  handleCopyData({ chunk }: { chunk: Buffer }, { stream }: pg.Connection): void {
    // A copy, because the driver writes the next messages into the same memory.
    if (!this.push(Buffer.from(chunk))) stream.pause();
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.rows = rowsOf(text);
  }

  handleReadyForQuery(): void {
    // The last chunk may have paused the connection, which the next query needs.
    this.#connection?.stream.resume();
    this.push(null);
  }

  handleError(error: Error): void {
    this.destroy(error);
  }

  handleCopyInResponse(): void {}
  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
}

/** The input of a `copy … from stdin`. It finishes when PostgreSQL has accepted all rows. */
export class CopyWritable extends Writable implements pg.Submittable {
  readonly #text: string;
  #connection: CopyConnection | undefined;
  #isReady = false;
  /** Continues when PostgreSQL is ready for data. */
  #onReady: (() => void) | undefined;
  #onEnd: ((error?: Error | null) => void) | undefined;

  constructor(text: string) {
    super();
    this.#text = text;
  }

  submit(connection: pg.Connection): void {
    this.#connection = connection as CopyConnection;
    connection.query(this.#text);
  }

  handleCopyInResponse(): void {
    this.#isReady = true;
    this.#onReady?.();
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#whenReady((connection) => {
      connection.sendCopyFromChunk(chunk);
      if (connection.stream.writableNeedDrain) connection.stream.once('drain', done);
      else done();
    });
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#onEnd = done;
    this.#whenReady((connection) => connection.endCopyFrom());
  }

  /** Without the rest of the data the rows must not be stored, so the connection is closed. */
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (error !== null) this.#connection?.stream.destroy();
    done(error);
  }

  #whenReady(work: (connection: CopyConnection) => void): void {
    const run = (): void => {
      if (this.#connection) work(this.#connection);
    };
    if (this.#isReady) run();
    else this.#onReady = run;
  }

  handleCommandComplete(): void {}
  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}

  handleReadyForQuery(): void {
    this.#onEnd?.();
  }

  handleError(error: Error): void {
    this.destroy(error);
  }
}
