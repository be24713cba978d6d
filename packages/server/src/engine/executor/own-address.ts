/** The address at which code of the project reaches this server. It is known only once the server listens. */
export class OwnAddress {
  /** With the path before all routes, without a slash at the end. */
  readonly url: Promise<string>;
  #resolve!: (url: string) => void;
  #reject!: (error: Error) => void;

  constructor() {
    this.url = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // The code that needs the address gets the error.
    this.url.catch(() => undefined);
  }

  /** Null when this server has no API. */
  set(url: string | null): void {
    if (url === null)
      this.#reject(
        new Error(
          'This process is a worker, or its server does not know its address: name one, as in new Client({ apiUrl: "https://…" }) or get_client(url="https://…")',
        ),
      );
    else this.#resolve(url);
  }
}
