// A request with the credential of a session instead of its cookie.
import type { Credentials } from '../principal/caller.ts';
import { withoutConsoleCookies } from './session-cookie.ts';

/** The headers of a credential, by names in lower case. */
export type CredentialHeaders = Readonly<Record<string, string>>;

const workspaceHeader = 'x-tenant-id';

export class SessionCredentials implements Credentials {
  readonly #sent: Credentials;
  /** Replaced headers; undefined for those that are left out. */
  readonly #headers: Map<string, string | undefined>;

  /**
   * Without a credential, only cookies of the console are left out. With one, all cookies are: the caller is the one of the session, whatever
   * else the browser adds.
   */
  constructor(sent: Credentials, credential: CredentialHeaders | undefined) {
    this.#sent = sent;
    const cookie = credential === undefined ? withoutConsoleCookies(sent.header('cookie')) : undefined;
    this.#headers = new Map<string, string | undefined>([
      ['cookie', cookie],
      ['x-svc-csrf', undefined],
      ...Object.entries(credential ?? {}),
    ]);
    // A key with several workspaces: the request chooses, and the key's authenticator decides.
    if (sent.header(workspaceHeader) !== undefined) this.#headers.delete(workspaceHeader);
  }

  header(name: string): string | undefined {
    return this.#headers.has(name) ? this.#headers.get(name) : this.#sent.header(name);
  }

  get remoteAddress(): string | undefined {
    return this.#sent.remoteAddress;
  }

  get ticket(): string | undefined {
    return this.#sent.ticket;
  }

  get isInProcess(): boolean {
    return this.#sent.isInProcess === true;
  }

  get host(): unknown {
    return this.#sent.host;
  }

  request(): Request {
    const request = this.#sent.request();
    const headers = new Headers(request.headers);
    for (const [name, value] of this.#headers)
      if (value === undefined) headers.delete(name);
      else headers.set(name, value);
    return new Request(request.url, { method: request.method, headers });
  }
}
