// The session of this browser. Its cookie is invisible to scripts; the CSRF token is in the memory of this tab, and goes with every request.
import { createConsoleClient, type ConsoleClient, type ConsoleSession, type ListedSession } from '@svc/sdk';

export interface SessionState {
  /** Undefined until the server has answered. */
  session: ConsoleSession | undefined;
  /** True when the session has ended while the page was in use: requests wait until the user has signed in again. */
  isExpired: boolean;
}

interface StoreOptions {
  apiUrl: string;
  /** Called when another user has signed in: the page shows what the first one may see. */
  onOtherUser: () => void;
  /** Called when this tab has seen that the session has begun or ended. */
  onChange: () => void;
}

const platformPath = '/api/v1/';
const repeatsMax = 3;

export class SessionStore {
  readonly #apiUrl: string;
  readonly #onOtherUser: () => void;
  readonly #onChange: () => void;
  readonly #client: ConsoleClient;
  readonly #listeners = new Set<() => void>();
  #state: SessionState = { session: undefined, isExpired: false };
  #loading: Promise<ConsoleSession> | undefined;
  /** Set when the deployment API has been open in this page, until the user signs out; null for a caller without a name. */
  #identity: string | null | undefined;

  constructor({ apiUrl, onOtherUser, onChange }: StoreOptions) {
    this.#apiUrl = apiUrl;
    this.#onOtherUser = onOtherUser;
    this.#onChange = onChange;
    this.#client = createConsoleClient({ apiUrl, fetch: (...request) => this.#send(...request) });
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly state = (): SessionState => this.#state;

  /**
   * Reads the session from the server: another tab may have signed in or out. `isFromOtherTab`: a message of another tab is the reason, and
   * this tab sends none. Otherwise tabs without cookies, each of which gets a new session, would send messages forever.
   */
  load({ isFromOtherTab = false } = {}): Promise<ConsoleSession> {
    this.#loading ??= this.#client
      .session()
      .then((session) => this.#keep(session, { isFromOtherTab }))
      .finally(() => {
        this.#loading = undefined;
      });
    return this.#loading;
  }

  async signIn(entered: Parameters<ConsoleClient['signIn']>[0]): Promise<ConsoleSession> {
    return this.#keep(await this.#client.signIn(entered));
  }

  list(options: { signal?: AbortSignal } = {}): Promise<ListedSession[]> {
    return this.#client.sessions(options);
  }

  /** Ends the session of another browser. */
  end(id: string): Promise<void> {
    return this.#client.end(id);
  }

  async signOut(options: { everywhere?: boolean } = {}): Promise<void> {
    await this.#client.signOut(options);
    this.#identity = undefined;
    await this.load();
  }

  /** Like the global fetch, with the CSRF token. When the session has ended, the request waits for the next one, and is sent again. */
  readonly fetch: typeof fetch = async (input, init) => {
    for (let repeats = 0; ; repeats++) {
      const token = this.#state.session?.csrf_token;
      const response = await this.#send(input, init);
      if (response.status !== 401 || repeats === repeatsMax) return response;
      const isPlatform = urlOf(input).startsWith(this.#apiUrl + platformPath);
      if (!(await this.#canRepeat(isPlatform, token, init?.signal))) return response;
    }
  };

  #send(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
    const token = this.#state.session?.csrf_token;
    const headers = new Headers(init.headers);
    if (typeof token === 'string') headers.set('x-svc-csrf', token);
    return fetch(input, { ...init, headers, credentials: 'same-origin' });
  }

  async #canRepeat(
    isPlatform: boolean,
    token: string | null | undefined,
    signal: AbortSignal | null | undefined,
  ): Promise<boolean> {
    try {
      await this.load();
    } catch {
      return false;
    }
    if (this.#state.isExpired && !(await this.#untilOpen(signal))) return false;
    const { session } = this.#state;
    const isOpen = ((isPlatform ? session?.workspace : session?.deployment) ?? null) !== null;
    // With the same token, the server has refused the request for another reason than the session.
    return isOpen && session?.csrf_token !== token;
  }

  #untilOpen(signal: AbortSignal | null | undefined): Promise<boolean> {
    return new Promise((resolve) => {
      const finish = (isOpen: boolean): void => {
        unsubscribe();
        signal?.removeEventListener('abort', cancel);
        resolve(isOpen);
      };
      const cancel = (): void => finish(false);
      const unsubscribe = this.subscribe(() => !this.#state.isExpired && finish(true));
      if (signal?.aborted === true) cancel();
      else signal?.addEventListener('abort', cancel);
    });
  }

  #keep(session: ConsoleSession, { isFromOtherTab = false } = {}): ConsoleSession {
    const { deployment } = session;
    const before = this.#state.session;
    if (deployment !== null) {
      if (this.#identity !== undefined && this.#identity !== deployment.identity) this.#onOtherUser();
      this.#identity = deployment.identity;
    }
    // In one step: a page without its dialog would be replaced by the form, and lose what it holds.
    this.#state = { session, isExpired: deployment === null && this.#identity !== undefined };
    if (!isFromOtherTab && before?.csrf_token !== session.csrf_token) this.#onChange();
    for (const listener of this.#listeners) listener();
    return session;
  }
}

const urlOf = (input: RequestInfo | URL): string => (input instanceof Request ? input.url : input.toString());
