// What has been opened, in order: closed in reverse, and all of it even when a part of it cannot be.
// Node 20 has no AsyncDisposableStack.

type Disposing = AsyncDisposable | Disposable;

export class Owned implements AsyncDisposable {
  readonly #parts: Disposing[] = [];
  #closing: Promise<void> | undefined;

  /** Returns what it was given. */
  keep<T extends Disposing>(part: T): T {
    this.#parts.push(part);
    return part;
  }

  /** Throws the first error, when everything has been tried. */
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

/** Builds something whose parts are closed when the rest cannot be built, and with it when it is closed. */
export const owning = async <T extends object>(
  build: (owned: Owned) => Promise<T>,
): Promise<T & AsyncDisposable> => {
  const owned = new Owned();
  try {
    const built = await build(owned);
    return { ...built, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
  } catch (error) {
    // Why it could not be built matters more than what could not be closed.
    await owned[Symbol.asyncDispose]().catch(() => undefined);
    throw error;
  }
};
