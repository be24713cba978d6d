// Stores sessions of the console, and opens them for requests. Each request is authenticated with the credential of its session, by the same
// authenticators as the request of an API client. Sessions are not cached: a session that has ended is refused at once, on every node.
import { randomBytes } from 'node:crypto';
import type { ConsoleSessionStorage, ListedConsoleSession } from '../../storage/auth/console-sessions.ts';
import type { TicketMode } from '../../storage/auth/tickets.ts';
import type { Authenticate, Caller, Credentials } from '../principal/caller.ts';
import type { SchemeOf } from '../principal/client-address.ts';
import type { LazySealer } from '../sealed-users/lazy-sealer.ts';
import { SealError } from '../sealed-users/sealer.ts';
import { sha256 } from '../sha256.ts';
import {
  cookieName,
  type CookieText,
  csrfTokenOf,
  hasCsrfToken,
  isFromOwnPage,
  readCookie,
} from './session-cookie.ts';
import { type CredentialHeaders, SessionCredentials } from './session-credentials.ts';

/** The two APIs take different credentials. */
export type ConsoleApi = 'deployment' | 'platform';

/** What the user has entered, by API. `isLocal`: nobody has entered the key of the platform API, it is that of the local viewer. */
export interface SessionSecrets extends Partial<Record<ConsoleApi, CredentialHeaders>> {
  isLocal?: true;
}

export interface ConsoleSessionsParts {
  storage: ConsoleSessionStorage;
  sealer: Pick<LazySealer, 'get'>;
  /** How this server authenticates. */
  mode: TicketMode;
  /** The header of `console.auth`, in lower case. */
  credentialHeader: string | undefined;
  schemeOf: SchemeOf;
  /** Whether sessions of the local viewer are valid. */
  acceptsLocal: boolean;
  idleMs: number;
  totalMs: number;
}

export interface StoredSession {
  hash: Buffer;
  owner: Buffer;
  secrets: SessionSecrets;
  expiresAt: string;
}

export interface OpenSession extends StoredSession {
  csrfToken: string;
}

export interface CreatedSession {
  cookie: CookieText;
  csrfToken: string;
  expiresAt: string;
}

/** Of one user or key: a key may be shared by a team. */
const sessionsMax = 1_000;
const cookieBytes = 32;
/** Characters of a User-Agent that are kept. */
const browserMax = 512;

/** The credentials are encrypted for one session. */
const purposeOf = (hash: Buffer): string => `console session ${hash.toString('hex')}`;

export class ConsoleSessions {
  readonly #parts: ConsoleSessionsParts;
  readonly #watch: SessionWatch;

  constructor(parts: ConsoleSessionsParts) {
    this.#parts = parts;
    const { storage, idleMs } = parts;
    this.#watch = new SessionWatch({ listOpen: (hashes) => storage.listOpen(hashes, idleMs / 1_000) });
  }

  /** Accepts sessions in addition. A credential in the request itself has priority. */
  around(api: ConsoleApi, authenticate: Authenticate): Authenticate {
    return (credentials) => {
      const cookies = credentials.header('cookie');
      if (cookies === undefined || !/svc-console/i.test(cookies)) return authenticate(credentials);
      return this.#authenticate(api, credentials, authenticate);
    };
  }

  async #authenticate(
    api: ConsoleApi,
    credentials: Credentials,
    authenticate: Authenticate,
  ): Promise<Caller> {
    const isOther = credentials.ticket !== undefined || this.#hasOwnCredential(credentials);
    const session = isOther ? undefined : await this.find(credentials);
    const caller = await authenticate(new SessionCredentials(credentials, session?.secrets[api]));
    if (session?.secrets[api] === undefined) return caller;
    return { ...caller, watch: (end) => this.#watch.open(session.hash, end) };
  }

  /** The session of a request that its CSRF token proves to be sent by the console. */
  async find(credentials: Credentials): Promise<OpenSession | undefined> {
    const cookie = this.#cookieOf(credentials);
    return cookie !== undefined && hasCsrfToken(credentials, cookie) ? this.#open(cookie) : undefined;
  }

  /** The session of a request that needs no CSRF token, because it reads the token. */
  async findForPage(credentials: Credentials): Promise<OpenSession | undefined> {
    const cookie = this.#cookieOf(credentials);
    return cookie === undefined ? undefined : this.#open(cookie);
  }

  /** For a browser that comes back from a provider: it does not send the cookie of its session then. */
  findByHash(hash: Buffer): Promise<StoredSession | undefined> {
    return this.#read(hash);
  }

  /** `owner`: the user or key that signs in. `replaces`: the session that the new one continues. `browser`: the User-Agent. */
  async create(
    secrets: SessionSecrets,
    {
      owner,
      replaces,
      browser,
    }: { owner: Buffer; replaces: StoredSession | undefined; browser: string | undefined },
  ): Promise<CreatedSession> {
    const { storage, sealer, mode, totalMs } = this.#parts;
    const cookie = randomBytes(cookieBytes).toString('base64url');
    const hash = sha256(cookie);
    const sealed = (await sealer.get()).seal(JSON.stringify(secrets), purposeOf(hash));
    const expiresAt = await storage.create(
      { hash, mode, owner, sealed, browser: browser?.slice(0, browserMax) ?? null },
      { seconds: totalMs / 1_000, count_max: sessionsMax, replaces: replaces?.hash ?? null },
    );
    return { cookie, csrfToken: csrfTokenOf(cookie), expiresAt };
  }

  async end({ hash }: StoredSession): Promise<void> {
    await this.#parts.storage.delete(hash);
    this.#watch.check();
  }

  /** Ends all sessions of the user or key. */
  async endAll({ owner }: StoredSession): Promise<void> {
    await this.#parts.storage.deleteOf(owner);
    this.#watch.check();
  }

  /** Sessions of the same user or key, those that were used last first. */
  list({ owner }: StoredSession): Promise<ListedConsoleSession[]> {
    const { storage, idleMs } = this.#parts;
    return storage.list(owner, idleMs / 1_000, sessionsMax);
  }

  /** Ends another session of the same user or key; false when there is none. */
  async endOne({ owner }: StoredSession, hash: Buffer): Promise<boolean> {
    const isEnded = await this.#parts.storage.deleteOne(owner, hash);
    this.#watch.check();
    return isEnded;
  }

  isFromOwnPage(credentials: Credentials): boolean {
    return isFromOwnPage(credentials, this.#parts.schemeOf);
  }

  /** The cookie for the response to a request; without a text it deletes the browser's cookie. */
  cookieFor(credentials: Credentials, text: CookieText | undefined) {
    const { schemeOf, totalMs } = this.#parts;
    return {
      name: cookieName(credentials, schemeOf),
      value: text ?? '',
      maxAgeSeconds: text === undefined ? 0 : Math.ceil(totalMs / 1_000),
      isSecure: schemeOf(credentials) === 'https',
    };
  }

  #hasOwnCredential(credentials: Credentials): boolean {
    const { credentialHeader } = this.#parts;
    const names = [
      'x-api-key',
      'authorization',
      ...(credentialHeader === undefined ? [] : [credentialHeader]),
    ];
    return names.some((name) => credentials.header(name) !== undefined);
  }

  #cookieOf(credentials: Credentials): CookieText | undefined {
    const { schemeOf } = this.#parts;
    const cookie = readCookie(credentials.header('cookie'), cookieName(credentials, schemeOf));
    return cookie !== undefined && isFromOwnPage(credentials, schemeOf) ? cookie : undefined;
  }

  async #open(cookie: CookieText): Promise<OpenSession | undefined> {
    const session = await this.#read(sha256(cookie));
    return session && { ...session, csrfToken: csrfTokenOf(cookie) };
  }

  async #read(hash: Buffer): Promise<StoredSession | undefined> {
    const { storage, sealer, mode, idleMs } = this.#parts;
    const row = await storage.use(hash, idleMs / 1_000);
    if (row === undefined || row.mode !== mode) return undefined;
    try {
      const secrets = JSON.parse((await sealer.get()).open(row.sealed, purposeOf(hash))) as SessionSecrets;
      const { owner, expires_at: expiresAt } = row;
      return { hash, owner, secrets: this.#valid(secrets), expiresAt };
    } catch (error) {
      // Encrypted with another key: nothing can be done with the session.
      if (error instanceof SealError) return undefined;
      throw error;
    }
  }

  /** A credential in a header that `console.auth` no longer names is not sent, nor the key of the local viewer when it was turned off. */
  #valid({ deployment, platform, isLocal }: SessionSecrets): SessionSecrets {
    const { mode, credentialHeader, acceptsLocal } = this.#parts;
    const expected = mode === 'keys' ? 'x-api-key' : credentialHeader;
    const isValid = deployment !== undefined && expected !== undefined && expected in deployment;
    const hasPlatform = platform !== undefined && (isLocal !== true || acceptsLocal);
    return {
      ...(isValid ? { deployment } : {}),
      ...(hasPlatform ? { platform } : {}),
      ...(hasPlatform && isLocal === true ? { isLocal } : {}),
    };
  }
}

// Ends the open streams of sessions that have ended, on whichever node they were ended. Requests check their session themselves; a stream may
// be open for hours.
interface SessionWatchParts {
  /** Returns the hashes of the sessions that are still open. */
  listOpen: (hashes: readonly Buffer[]) => Promise<readonly Buffer[]>;
  everyMs?: number;
}

/** How long the streams of a session continue on other nodes, at most. */
const usualMs = 5_000;

class SessionWatch {
  readonly #parts: SessionWatchParts;
  /** By hash, as hexadecimal digits: what ends each stream. */
  readonly #streams = new Map<string, Set<() => void>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: SessionWatchParts) {
    this.#parts = parts;
  }

  /** Calls `end` when the session has ended, until the returned function is called. */
  open(hash: Buffer, end: () => void): () => void {
    const key = hash.toString('hex');
    const streams = this.#streams.get(key) ?? new Set();
    this.#streams.set(key, streams.add(end));
    this.#timer ??= setInterval(() => this.check(), this.#parts.everyMs ?? usualMs).unref();
    return () => {
      streams.delete(end);
      if (streams.size === 0 && this.#streams.get(key) === streams) this.#streams.delete(key);
      if (this.#streams.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  /** Ends the streams of sessions that have ended. If the database is unavailable, the next check does. */
  check(): void {
    this.#check().catch(() => undefined);
  }

  async #check(): Promise<void> {
    const watched = [...this.#streams.keys()];
    if (watched.length === 0) return;
    const open = await this.#parts.listOpen(watched.map((key) => Buffer.from(key, 'hex')));
    const left = new Set(open.map((hash) => hash.toString('hex')));
    for (const key of watched) {
      if (left.has(key)) continue;
      for (const end of this.#streams.get(key) ?? []) end();
    }
  }
}
