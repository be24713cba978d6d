// The two steps of signing in at a provider. A user who comes back without success gets the page again, with the reason.
import type { consoleRoutes, OidcFault } from '@svc/contract';
import { invalid, Problem } from '@svc/contract/problem';
import type { Logger } from 'pino';
import { type Call, type Handlers, Reply } from '../../api/handlers.ts';
import { SealError } from '../sealed-users/sealer.ts';
import type { ConsoleSessions } from './console-sessions.ts';
import type { OidcAttempt, OidcSignIn } from './oidc-sign-in.ts';
import type { Shown, SignInService } from './sign-in-service.ts';
import type { Credentials } from '../principal/caller.ts';

export interface OidcParts {
  /** Undefined unless `console.auth` has the kind `oidc`. */
  oidc: OidcSignIn | undefined;
  service: SignInService;
  sessions: ConsoleSessions;
  /** The path before all routes, or empty. */
  prefix: string;
  logger: Logger;
}

type OidcRoutes = Pick<typeof consoleRoutes, 'startOidc' | 'finishOidc'>;

export const oidcHandlers = (parts: OidcParts): Handlers<OidcRoutes> => {
  const { service, sessions, prefix, logger } = parts;
  const offered = (): OidcSignIn => {
    if (parts.oidc) return parts.oidc;
    throw new Problem(
      'not_found',
      'Users of this server do not sign in at a provider: svc.json has no console.auth of the kind oidc.',
    );
  };
  const failed = (fault: OidcFault, call: Call, cause?: unknown): Reply<string> => {
    logger.warn({ request_id: call.requestId, fault, err: cause }, 'a sign-in at the provider has failed');
    return new Reply(`${prefix}/console/?sign_in_error=${fault}`, {});
  };
  const finish = async (oidc: OidcSignIn, attempt: OidcAttempt, call: Call): Promise<Reply<string>> => {
    const { credentials, address } = call;
    const { search } = new URL(credentials.request().url);
    const exchange = (): Promise<string> =>
      oidc.token(address, search, attempt).catch((cause: unknown) => {
        throw new ExchangeFailure('unauthenticated', 'The provider has not confirmed the sign-in.', {
          cause,
        });
      });
    try {
      const { cookie } = await service.createFromProvider(credentials, exchange, attempt.continues);
      return new Reply(attempt.returnTo, { cookie: sessions.cookieFor(credentials, cookie ?? undefined) });
    } catch (error) {
      if (error instanceof ExchangeFailure) return failed('provider', call, error.cause);
      if (error instanceof Problem && refusals.has(error.code)) return failed('refused', call, error);
      throw error;
    }
  };
  return {
    startOidc: async ({ query: { return_to = `${prefix}/console/` } }, call) => {
      const { credentials, address } = call;
      const oidc = offered();
      const returnTo = pageOf(return_to, prefix);
      const session = await sessions.findForPage(credentials);
      try {
        const continues = session?.hash.toString('hex');
        const { url, cookie } = await oidc.start(credentials, address, { returnTo, continues });
        return new Reply(url, { cookie });
      } catch (error) {
        return failed('provider', call, error);
      }
    },
    finishOidc: async ({ query: { state, error } }, call) => {
      const oidc = offered();
      const attempt = await oidc.attempt(call.credentials, state).catch(unlessForeign);
      if (attempt === undefined) return failed('expired', call);
      if (error !== undefined) return failed(error === 'access_denied' ? 'denied' : 'provider', call, error);
      return finish(oidc, attempt, call);
    },
  };
};

/** The request for the token failed, or the answer of the provider was not valid. */
class ExchangeFailure extends Problem {}

const refusals = new Set(['unauthenticated', 'forbidden', 'bad_request', 'invalid']);

/** A cookie that this server has not written, or that it wrote with another key. */
const unlessForeign = (error: unknown): undefined => {
  if (!(error instanceof SealError)) throw error;
};

/** The path of a page of the console. Throws invalid for any other address. */
const pageOf = (text: string, prefix: string): string => {
  const base = 'http://console.invalid';
  const url = URL.canParse(text, base) ? new URL(text, base) : undefined;
  const isPage =
    url?.origin === base &&
    (url.pathname === `${prefix}/console` || url.pathname.startsWith(`${prefix}/console/`));
  if (!isPage) throw invalid(['query', 'return_to'], `must be a path below ${prefix}/console`);
  return url.pathname + url.search;
};

export const sessionHandlers = (
  service: SignInService,
  sessions: ConsoleSessions,
): Handlers<Omit<typeof consoleRoutes, 'startOidc' | 'finishOidc'>> => {
  const reply = (credentials: Credentials, { session, cookie }: Shown) =>
    cookie === undefined
      ? session
      : new Reply(session, { cookie: sessions.cookieFor(credentials, cookie ?? undefined) });
  const ended = (credentials: Credentials): Reply<undefined> =>
    new Reply(undefined, { cookie: sessions.cookieFor(credentials, undefined) });
  return {
    getConsoleSession: async (_, { credentials }) => reply(credentials, await service.show(credentials)),
    createConsoleSession: async ({ body }, { credentials }) =>
      reply(credentials, await service.create(credentials, body)),
    endConsoleSession: async (_, { credentials }) => {
      await service.end(credentials);
      return ended(credentials);
    },
    listConsoleSessions: async (_, { credentials }) => service.list(credentials),
    endOneConsoleSession: async ({ params: { session_id } }, { credentials }) => {
      await service.endOne(credentials, session_id);
      return undefined;
    },
    endAllConsoleSessions: async (_, { credentials }) => {
      await service.endAll(credentials);
      return ended(credentials);
    },
  };
};
