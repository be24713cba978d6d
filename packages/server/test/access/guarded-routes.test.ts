import { pino } from 'pino';
import { systemRoutes, threadRoutes, type Routes } from '@svc/contract';
import { expect, it } from 'vitest';
import { AuthHandlers } from '../../src/auth/authorization/authorizer.ts';
import type { Handlers } from '../../src/api/handlers.ts';
import { createApp } from '../../src/http/server/app.ts';
import { createParsing } from '../../src/parsing/parsing.ts';

const logger = pino({ enabled: false });
const user = { identity: 'ann', is_authenticated: true, display_name: 'ann', permissions: [] };
const authHandlers = new AuthHandlers({ handlers: new Map(), isLenient: true, timeoutMs: 100 });
const parsing = createParsing(1_000_000, logger);
const guarded = {
  authenticate: () => ({ user, countedAs: 'ann' }),
  authorizerFor: authHandlers.authorizerFor.bind(authHandlers),
};

it('the response of a route without an authorization check is not sent', async () => {
  const { getThread } = threadRoutes;
  const handlers = { getThread: () => ({ thread_id: 'seen' }) } as unknown as Handlers<Routes>;
  const app = createApp({ surfaces: [{ routes: { getThread }, handlers, ...guarded }], logger, parsing });
  const response = await app.request(`/threads/${crypto.randomUUID()}`);
  expect(response.status).toBe(500);
  expect(await response.text()).not.toContain('seen');
});

it('a route without an access declaration is not mounted', () => {
  const { access: _, ...open } = systemRoutes.getOk;
  const routes = { open } as unknown as Routes;
  const surfaces = [{ routes, handlers: { open: () => ({}) } as never, ...guarded }];
  expect(() => createApp({ surfaces, logger, parsing })).toThrow('Route open has no access rule');
});
