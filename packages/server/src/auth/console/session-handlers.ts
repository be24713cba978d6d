import type { consoleRoutes } from '@svc/contract';
import { type Handlers, Reply } from '../../api/handlers.ts';
import type { Credentials } from '../principal/caller.ts';
import type { ConsoleSessions } from './console-sessions.ts';
import type { Shown, SignInService } from './sign-in-service.ts';

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
