// Signs in to the console and out of it, and shows what a session opens. Credentials are checked by the authenticators of the two APIs.
import type { ConsoleSession, ConsoleSignIn, KeyRole, ListedSession } from '@svc/contract';
import { invalid, notFound, Problem } from '@svc/contract/problem';
import { anybody, type Authenticate, type Caller, type Credentials, grantOf } from '../principal/caller.ts';
import { sha256 } from '../sha256.ts';
import type { ConsoleSessions, OpenSession, SessionSecrets, StoredSession } from './console-sessions.ts';
import type { LocalViewer } from './local-viewer.ts';
import { type CredentialHeaders, SessionCredentials } from './session-credentials.ts';

/** What the deployment API of this server takes. */
export type SignInKind = ConsoleSession['sign_in'];

export interface SignInParts {
  sessions: ConsoleSessions;
  signIn: SignInKind;
  /** Without limits and sessions. */
  deployment: Authenticate;
  platform: Authenticate;
  /** The graphs of svc.json, in its order. */
  graphs: string[];
  /** The file with the key of the first start, if there is one that users of the deployment API may know. */
  adminKeyFile: () => string | null;
  /** The key of pages that need no sign-in; undefined where every key is entered. */
  viewer: Pick<LocalViewer, 'credential' | 'refused'> | undefined;
  /** Adds the limit of failed authentications. */
  limited: (authenticate: Authenticate) => Authenticate;
}

/** What a request may use, and with which credentials. */
interface Opened {
  secrets: SessionSecrets;
  deployment: Caller | undefined;
  platform: Caller | undefined;
}

export interface Shown {
  session: ConsoleSession;
  /** The cookie to set: undefined for no change, null to delete it. */
  cookie: string | null | undefined;
}

const printable = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

export class SignInService {
  readonly #parts: SignInParts;

  constructor(parts: SignInParts) {
    this.#parts = parts;
  }

  /** The APIs that the session gives access to now. If all of its credentials are refused, the session has ended: its key was revoked, for example. */
  async show(credentials: Credentials): Promise<Shown> {
    const { sessions } = this.#parts;
    const session = await sessions.findForPage(credentials);
    if (session !== undefined) {
      const opened = await this.#opened(credentials, session.secrets);
      if (isLive(opened)) return { session: this.#describe(opened, session), cookie: undefined };
      await sessions.end(session);
    }
    const withoutSession = await this.#opened(credentials, {});
    const local = await this.#openLocal(credentials, withoutSession);
    if (local !== undefined) return local;
    const hasCookie = credentials.header('cookie')?.includes('svc-console') === true;
    return {
      session: this.#describe(withoutSession, undefined),
      cookie: hasCookie && sessions.isFromOwnPage(credentials) ? null : undefined,
    };
  }

  /** A session that nobody has entered a key for. Undefined where there is none, and when its key was revoked. */
  async #openLocal(credentials: Credentials, opened: Opened): Promise<Shown | undefined> {
    const { viewer, sessions } = this.#parts;
    if (viewer === undefined || isForwarded(credentials) || !sessions.isFromOwnPage(credentials))
      return undefined;
    try {
      const headers = await viewer.credential();
      return headers && (await this.#createLocal(credentials, opened, headers));
    } catch (error) {
      // The console needs no session to show what is wrong with the database.
      if (error instanceof Problem && error.code === 'unavailable') return undefined;
      throw error;
    }
  }

  async #createLocal(
    credentials: Credentials,
    opened: Opened,
    headers: CredentialHeaders,
  ): Promise<Shown | undefined> {
    const { viewer, sessions } = this.#parts;
    // Without the limit of failed authentications: the caller has entered nothing.
    const platform = await unlessRefused(this.#authenticate('platform', credentials, headers));
    if (platform === undefined) {
      viewer?.refused();
      return undefined;
    }
    const secrets: SessionSecrets = { platform: headers, isLocal: true };
    const { cookie, csrfToken, expiresAt } = await sessions.create(secrets, {
      owner: ownerOf({ secrets, deployment: undefined, platform }),
      replaces: undefined,
      browser: credentials.header('user-agent'),
    });
    const session = this.#describe({ ...opened, secrets, platform }, { csrfToken, expiresAt });
    return { session, cookie };
  }

  async create(credentials: Credentials, entered: ConsoleSignIn): Promise<Shown> {
    this.#assertOwnPage(credentials);
    const existing = await this.#parts.sessions.find(credentials);
    return this.#enter(credentials, existing, () => this.#try(credentials, entered));
  }

  /**
   * `exchange` gets the token of the provider; its failures count as failed authentications. `continues`: the hash of the session of this
   * browser, as hexadecimal digits. Throws the error of the authenticator, or that of `exchange`.
   */
  async createFromProvider(
    credentials: Credentials,
    exchange: () => Promise<string>,
    continues: string | undefined,
  ): Promise<Shown> {
    const existing =
      continues === undefined
        ? undefined
        : await this.#parts.sessions.findByHash(Buffer.from(continues, 'hex'));
    return this.#enter(credentials, existing, async () =>
      this.#withToken(credentials, bearer(checked('token', await exchange()))),
    );
  }

  async #enter(
    credentials: Credentials,
    existing: StoredSession | undefined,
    open: () => Promise<Opened>,
  ): Promise<Shown> {
    const { sessions, limited } = this.#parts;
    const results: Opened[] = [];
    // One failed sign-in counts once, however many authenticators have refused it.
    await limited(async () => {
      const opened = await open();
      results.push(opened);
      return opened.deployment ?? opened.platform ?? anybody;
    })(credentials);
    const [opened] = results;
    if (opened === undefined) throw new Error('The limits have not called the authentication');
    const secrets = merged(existing, opened);
    // The owner of a session stays the same when the key of a workspace is added to it.
    const isAdded = opened.deployment === undefined && existing?.secrets.deployment !== undefined;
    const owner = isAdded ? existing.owner : ownerOf(opened);
    const { cookie, csrfToken, expiresAt } = await sessions.create(secrets, {
      owner,
      replaces: existing,
      browser: credentials.header('user-agent'),
    });
    const all = await this.#opened(credentials, secrets);
    return { session: this.#describe(all, { csrfToken, expiresAt }), cookie };
  }

  /** Also deletes the cookie of a session that has ended already. */
  async end(credentials: Credentials): Promise<void> {
    this.#assertOwnPage(credentials);
    const session = await this.#parts.sessions.find(credentials);
    if (session) await this.#parts.sessions.end(session);
  }

  async endAll(credentials: Credentials): Promise<void> {
    this.#assertOwnPage(credentials);
    await this.#parts.sessions.endAll(await this.#session(credentials));
  }

  /** Sessions of the same user or key. */
  async list(credentials: Credentials): Promise<ListedSession[]> {
    const session = await this.#session(credentials);
    return (await this.#parts.sessions.list(session)).map(({ hash, ...facts }) => ({
      id: hash.toString('hex'),
      ...facts,
      is_current: hash.equals(session.hash),
    }));
  }

  /** Ends a session of the same user or key. Throws `not_found`. */
  async endOne(credentials: Credentials, id: string): Promise<void> {
    this.#assertOwnPage(credentials);
    const session = await this.#session(credentials);
    if (!(await this.#parts.sessions.endOne(session, Buffer.from(id, 'hex')))) throw notFound('Session', id);
  }

  async #session(credentials: Credentials): Promise<OpenSession> {
    const session = await this.#parts.sessions.find(credentials);
    if (session) return session;
    throw new Problem('unauthenticated', 'The session of the console has ended: sign in again.');
  }

  #assertOwnPage(credentials: Credentials): void {
    if (this.#parts.sessions.isFromOwnPage(credentials)) return;
    throw new Problem(
      'forbidden',
      'Only the console of this server may sign in or out: the headers Origin and Sec-Fetch-Site must name this server.',
    );
  }

  /** Throws the error of the authenticator when the credential opens nothing. */
  async #try(credentials: Credentials, { key, token, workspace_id }: ConsoleSignIn): Promise<Opened> {
    if ((key === undefined) === (token === undefined))
      throw invalid(['body'], 'needs either key or token, and not both');
    if (token !== undefined) return this.#withToken(credentials, this.#headersOf(token));
    const text = checked('key', key ?? '');
    const platform: CredentialHeaders = {
      'x-api-key': text,
      ...(workspace_id === undefined ? {} : { 'x-tenant-id': workspace_id }),
    };
    const deployment: CredentialHeaders = { 'x-api-key': text };
    const isKeyed = this.#parts.signIn.kind === 'key';
    const [first, second] = await Promise.allSettled([
      isKeyed ? this.#authenticate('deployment', credentials, deployment) : Promise.resolve(undefined),
      this.#authenticate('platform', credentials, platform),
    ]);
    const opened = {
      deployment: first.status === 'fulfilled' ? first.value : undefined,
      platform: second.status === 'fulfilled' ? second.value : undefined,
    };
    const secrets = {
      ...(opened.deployment === undefined ? {} : { deployment }),
      ...(opened.platform === undefined ? {} : { platform: withWorkspace(platform, opened.platform) }),
    };
    if (opened.deployment !== undefined || opened.platform !== undefined) return { secrets, ...opened };
    for (const { reason } of [first, second].filter((result) => result.status === 'rejected'))
      if (!isRefusal(reason)) throw reason;
    throw new Problem(
      'unauthenticated',
      isKeyed
        ? 'The key opens neither the deployment API of this server nor a workspace.'
        : 'The key opens no workspace: it is unknown, was revoked, or has expired.',
    );
  }

  async #withToken(credentials: Credentials, deployment: CredentialHeaders): Promise<Opened> {
    const caller = await this.#authenticate('deployment', credentials, deployment);
    return { secrets: { deployment }, deployment: caller, platform: undefined };
  }

  #headersOf(token: string): CredentialHeaders {
    const { kind, header } = this.#parts.signIn;
    const text = checked('token', token.trim());
    if (kind === 'bearer') return bearer(text.replace(/^bearer +/i, ''));
    if (kind === 'header' && header !== null) return { [header.toLowerCase()]: text };
    throw invalid(['body', 'token'], 'is only for servers whose console.auth has the kind bearer or header');
  }

  /** Tries the credentials again: a key may have been revoked. */
  async #opened(credentials: Credentials, secrets: SessionSecrets): Promise<Opened> {
    const { kind } = this.#parts.signIn;
    // Without a credential of the session: nothing is needed, or something before this server adds a credential to every request.
    const isOpenWithout = kind !== 'key' && secrets.deployment === undefined;
    const deployment =
      secrets.deployment !== undefined || isOpenWithout
        ? this.#authenticate('deployment', credentials, secrets.deployment, { isLimited: true })
        : undefined;
    const platform =
      secrets.platform && this.#authenticate('platform', credentials, secrets.platform, { isLimited: true });
    const [first, second] = await Promise.all([unlessRefused(deployment), unlessRefused(platform)]);
    return { secrets, deployment: first, platform: second };
  }

  async #authenticate(
    api: 'deployment' | 'platform',
    credentials: Credentials,
    headers: CredentialHeaders | undefined,
    { isLimited = false } = {},
  ): Promise<Caller> {
    const { limited } = this.#parts;
    const authenticate = this.#parts[api];
    const caller = await (isLimited ? limited(authenticate) : authenticate)(
      new SessionCredentials(credentials, headers),
    );
    // A session is of one workspace.
    if (api === 'platform') assertWorkspace(caller);
    return caller;
  }

  #describe(
    { secrets, deployment, platform }: Opened,
    session: Pick<OpenSession, 'csrfToken' | 'expiresAt'> | undefined,
  ): ConsoleSession {
    const grant = platform && grantOf(platform);
    return {
      sign_in: this.#parts.signIn,
      deployment: deployment
        ? {
            identity: deployment.user?.identity ?? null,
            graphs: this.#parts.graphs,
            admin_key_file: this.#parts.adminKeyFile(),
          }
        : null,
      workspace: grant
        ? { id: grant.tenant_id, role: grant.role as KeyRole, is_local: secrets.isLocal === true }
        : null,
      csrf_token: session?.csrfToken ?? null,
      expires_at: session?.expiresAt ?? null,
    };
  }
}

/** Throws for a key with several workspaces of which none is chosen. */
const assertWorkspace = (caller: Caller): string => grantOf(caller).tenant_id;

const bearer = (token: string): CredentialHeaders => ({ authorization: `Bearer ${token}` });

const checked = (name: string, text: string): string => {
  if (printable.test(text)) return text;
  throw invalid(['body', name], 'must be printable ASCII characters, because it is sent in a header');
};

/** Stores the workspace with the key: the key may get access to further workspaces later. */
const withWorkspace = (headers: CredentialHeaders, caller: Caller): CredentialHeaders => ({
  ...headers,
  'x-tenant-id': grantOf(caller).tenant_id,
});

/** A credential of another user does not continue the session of the first. */
const merged = (existing: StoredSession | undefined, opened: Opened): SessionSecrets => {
  const { secrets, deployment } = opened;
  if (existing === undefined) return secrets;
  const isOtherUser =
    deployment !== undefined &&
    existing.secrets.deployment !== undefined &&
    !existing.owner.equals(ownerOf(opened));
  if (isOtherUser) return secrets;
  // A key that was entered takes the place of that of the local viewer.
  const { deployment: own, platform } = existing.secrets;
  return { ...(own && { deployment: own }), ...(platform && { platform }), ...secrets };
};

const forwardingHeaders = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
];

/** True when a proxy says that it has sent the request for somebody, who may be on another machine. */
const isForwarded = (credentials: Credentials): boolean =>
  forwardingHeaders.some((name) => credentials.header(name) !== undefined);

const ownerOf = ({ deployment, platform }: Opened): Buffer => {
  const text = deployment
    ? `deployment ${deployment.user ? 'user' : 'key'} ${deployment.countedAs}`
    : `workspace key ${platform && grantOf(platform).key_id}`;
  return sha256(text);
};

/** True when a credential of the session is still accepted. */
const isLive = ({ secrets, deployment, platform }: Opened): boolean =>
  (secrets.deployment !== undefined && deployment !== undefined) || platform !== undefined;

const isRefusal = (error: unknown): boolean => error instanceof Problem && error.code === 'unauthenticated';

const refusals = new Set(['unauthenticated', 'forbidden', 'bad_request']);

const unlessRefused = async (caller: Promise<Caller> | undefined): Promise<Caller | undefined> => {
  try {
    return await caller;
  } catch (error) {
    if (error instanceof Problem && refusals.has(error.code)) return undefined;
    throw error;
  }
};
