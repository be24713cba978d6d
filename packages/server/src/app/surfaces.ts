// The APIs that a server serves, and who may use each of them.
import { consoleRoutes, platformRoutes, type Routes, unsupportedPaths } from '@svc/contract';
import type { Logger } from 'pino';
import type { Handlers } from '../api/handlers.ts';
import { keyAuthorizer, unrestrictedAuthorizer } from '../auth/authorization/authorizer.ts';
import type { ConsoleApi } from '../auth/console/console-sessions.ts';
import { type Authenticate, type Caller, grantOf } from '../auth/principal/caller.ts';
import { CallerLimits } from '../auth/limits/caller-limits.ts';
import { anonymousAuthenticator, apiKeyAuthenticator } from '../auth/principal/authenticators.ts';
import { type AddressOf, createAddressOf } from '../auth/principal/client-address.ts';
import type { SvcJson } from '../config/project/svc-json.ts';
import { type AccessMode, servesConsole } from '../config/settings/exposure.ts';
import type { Settings } from '../config/settings/settings.ts';
import type { Surface } from '../http/routing/mount.ts';
import { createConsoleSignIn } from './console-sign-in.ts';
import { servedRoutes } from './served-routes.ts';
import type { Services } from './services.ts';

interface Surfaces {
  surfaces: Surface[];
  limits: CallerLimits;
  /** Authenticates callers of the deployment API. */
  authenticate: Authenticate;
  hasConsole: boolean;
}

export const createSurfaces = (
  {
    settings,
    project,
    mode,
    logger,
  }: { settings: Settings; project: SvcJson; mode: AccessMode; logger: Logger },
  services: Services,
): Surfaces => {
  const addressOf = createAddressOf(settings.http.trustedProxies);
  const limits = new CallerLimits({ ...settings.limits, addressOf });
  const authenticate = {
    deployment: services.auth?.authenticate ?? authenticatorFor(mode, addressOf),
    platform: services.platform.authenticate,
  };
  const { signInStorage, sealer, guard } = services;
  const signIn = servesConsole(mode, settings)
    ? createConsoleSignIn({
        settings,
        project,
        mode,
        limits,
        sealer,
        storage: signInStorage,
        guard,
        logger,
        ...authenticate,
      })
    : undefined;
  const withSessions = (api: ConsoleApi): Authenticate =>
    signIn?.sessions.around(api, authenticate[api]) ?? authenticate[api];
  const withOwnRequests = (inner: Authenticate): Authenticate =>
    services.ownRequests?.around(inner, (attempt) => services.dispatcher.isExecuting(attempt)) ?? inner;
  const deployment = {
    routes: servedRoutes(settings.role, project),
    handlers: services.handlers as Handlers<Routes>,
    authenticate: limits.around(services.tickets.around(withOwnRequests(withSessions('deployment')))),
    authorizerFor: (caller: Caller) =>
      services.auth?.handlers.authorizerFor(caller) ?? unrestrictedAuthorizer,
  };
  const platform = {
    routes: platformRoutes,
    handlers: services.platform.handlers as Handlers<Routes>,
    authenticate: limits.around(withSessions('platform')),
    authorizerFor: (caller: Caller) => keyAuthorizer(grantOf(caller)),
    unsupported: unsupportedPaths,
  };
  const forConsole = signIn && {
    ...deployment,
    routes: consoleRoutes,
    handlers: signIn.handlers as Handlers<Routes>,
  };
  const apis = settings.role === 'worker' ? [deployment] : [deployment, platform];
  const surfaces = forConsole ? [...apis, forConsole] : apis;
  return { surfaces, limits, authenticate: deployment.authenticate, hasConsole: signIn !== undefined };
};

const authenticatorFor = (mode: AccessMode, addressOf: AddressOf): Authenticate => {
  switch (mode.kind) {
    case 'custom':
      throw new Error('Custom authentication has its own authenticator');
    case 'keys':
      return apiKeyAuthenticator(mode.keys);
    case 'anonymous':
      return anonymousAuthenticator(addressOf);
  }
};
