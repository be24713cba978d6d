// Resources in the order in which they were opened. They are closed in reverse order, all of them even when closing one fails. Node 20
// has no AsyncDisposableStack.

type Disposing = AsyncDisposable | Disposable;

export class Owned implements AsyncDisposable {
  readonly #parts: Disposing[] = [];
  #closing: Promise<void> | undefined;

  /** Returns its argument. */
  keep<T extends Disposing>(part: T): T {
    this.#parts.push(part);
    return part;
  }

  /** Throws the first error after it has tried to close everything. */
  [Symbol.asyncDispose](): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    const errors: unknown[] = [];
    for (let last = this.#parts.pop(); last; last = this.#parts.pop()) {
      try {
        if (Symbol.asyncDispose in last) await last[Symbol.asyncDispose]();
        else last[Symbol.dispose]();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}

/** Builds an object whose parts are closed together with it, or when a later part cannot be built. */
export const owning = async <T extends object>(
  build: (owned: Owned) => Promise<T>,
): Promise<T & AsyncDisposable> => {
  const owned = new Owned();
  try {
    const built = await build(owned);
    return { ...built, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
  } catch (error) {
    // The error of the build is thrown, not an error of closing.
    await owned[Symbol.asyncDispose]().catch(() => undefined);
    throw error;
  }
};
