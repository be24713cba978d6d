// A body whose pieces are written as fast as its reader takes them.

interface Demand {
  promise: Promise<void>;
  resolve: () => void;
  reject: (error: Error) => void;
}

const newDemand = (): Demand => {
  let resolve!: () => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<void>((resolved, rejected) => {
    resolve = resolved;
    reject = rejected;
  });
  promise.catch(() => undefined); // write() reports it, if it is called
  return { promise, resolve, reject };
};

export class PieceStream {
  readonly readable: ReadableStream<Uint8Array>;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #demand = newDemand();
  #isOpen = true;

  /** `onCancel` is called when the reader stops reading before the end. */
  constructor(onCancel: () => void) {
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#demand.resolve(),
        cancel: () => {
          this.#isOpen = false;
          this.#demand.reject(new Error('the reader has gone'));
          onCancel();
        },
      },
      { highWaterMark: 0 },
    );
  }

  /** Resolves when the reader has taken the piece. Rejects when it has gone. */
  async write(piece: Uint8Array): Promise<void> {
    await this.#demand.promise;
    this.#demand = newDemand();
    this.#controller.enqueue(piece);
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#controller.close();
  }

  fail(error: Error): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#controller.error(error);
    this.#demand.reject(error);
  }
}
