// Wiring of the sessions of the console.
import { existsSync } from 'node:fs';
import { type consoleRoutes } from '@svc/contract';
import type { Logger } from 'pino';
import type { Handlers } from '../api/handlers.ts';
import { ConsoleSessions } from '../auth/console/console-sessions.ts';
import { oidcHandlers, sessionHandlers } from '../auth/console/console-handlers.ts';
import { LocalViewer } from '../auth/console/local-viewer.ts';
import { adminKeyFile } from '../auth/keys/bootstrap.ts';
import { OidcProvider } from '../auth/console/oidc-provider.ts';
import { OidcSignIn } from '../auth/console/oidc-sign-in.ts';
import { type SignInKind, SignInService } from '../auth/console/sign-in-service.ts';
import type { CallerLimits } from '../auth/limits/caller-limits.ts';
import type { Authenticate } from '../auth/principal/caller.ts';
import { createSchemeOf } from '../auth/principal/client-address.ts';
import type { LazySealer } from '../auth/sealed-users/lazy-sealer.ts';
import type { SvcJson } from '../config/project/svc-json.ts';
import type { AccessMode } from '../config/settings/exposure.ts';
import type { Settings } from '../config/settings/settings.ts';
import type { EgressGuard } from '../net/guard.ts';
import type { Storage } from '../storage/storage.ts';
import { mountPrefix } from './mount-prefix.ts';

export type SignInStorage = Pick<Storage, 'consoleSessions' | 'apiKeys' | 'workspaces'>;

export interface ConsoleSignInParts {
  settings: Settings;
  project: SvcJson;
  mode: AccessMode;
  storage: SignInStorage;
  sealer: LazySealer;
  limits: CallerLimits;
  /** How API clients authenticate, without limits. */
  deployment: Authenticate;
  platform: Authenticate;
  guard: EgressGuard;
  logger: Logger;
}

export interface ConsoleSignIn {
  sessions: ConsoleSessions;
  handlers: Handlers<typeof consoleRoutes>;
}

export const createConsoleSignIn = (parts: ConsoleSignInParts): ConsoleSignIn => {
  const { settings, project, mode, storage, sealer, limits, deployment, platform, guard, logger } = parts;
  const auth = mode.kind === 'custom' ? project.raw.console?.auth : undefined;
  const signIn = signInOf(mode, auth);
  const schemeOf = createSchemeOf(settings.http.trustedProxies);
  const isOpen =
    mode.kind === 'anonymous' &&
    mode.local &&
    settings.http.consoleViewer &&
    settings.http.trustedProxies.length === 0;
  const sessions = new ConsoleSessions({
    storage: storage.consoleSessions,
    sealer,
    mode: mode.kind,
    acceptsLocal: isOpen,
    credentialHeader: auth && (auth.kind === 'header' ? auth.name.toLowerCase() : 'authorization'),
    schemeOf,
    ...settings.http.consoleSessions,
  });
  const limited = (authenticate: Authenticate): Authenticate => limits.around(authenticate);
  const warn = (text: string): void => logger.warn(text);
  const viewer = isOpen
    ? new LocalViewer({ sealer, keys: storage.apiKeys, workspaces: storage.workspaces, warn })
    : undefined;
  const keyFile = adminKeyFile(settings.storage.dataDir);
  const service = new SignInService({
    sessions,
    signIn,
    deployment,
    platform,
    viewer,
    limited,
    graphs: [...project.graphs.keys()],
    // With custom authentication, users of the API need not be operators of the server.
    adminKeyFile: () => (mode.kind !== 'custom' && existsSync(keyFile) ? keyFile : null),
  });
  const provider =
    auth?.kind === 'oidc'
      ? new OidcProvider({ auth, clientSecret: settings.auth.oidcClientSecret, guard })
      : undefined;
  const oidc = provider && new OidcSignIn({ provider, sealer, schemeOf });
  const prefix = mountPrefix({ settings, project });
  return {
    sessions,
    handlers: {
      ...sessionHandlers(service, sessions),
      ...oidcHandlers({ oidc, service, sessions, prefix, logger }),
    },
  };
};

type ConsoleAuth = NonNullable<SvcJson['raw']['console']>['auth'];

const signInOf = ({ kind }: AccessMode, auth: ConsoleAuth): SignInKind => {
  const none = { header: null, provider: null };
  if (kind === 'anonymous') return { ...none, kind: 'none' };
  if (kind === 'keys') return { ...none, kind: 'key' };
  if (auth === undefined) return { ...none, kind: 'undeclared' };
  switch (auth.kind) {
    case 'bearer':
      return { ...none, kind: 'bearer' };
    case 'header':
      return { ...none, kind: 'header', header: auth.name };
    case 'oidc':
      return { ...none, kind: 'oidc', provider: new URL(auth.issuer).host };
  }
};
