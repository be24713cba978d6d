// Wiring of the sessions of the console.
import { type consoleRoutes } from '@svc/contract';
import type { Handlers } from '../api/handlers.ts';
import { ConsoleSessions } from '../auth/console/console-sessions.ts';
import { sessionHandlers } from '../auth/console/session-handlers.ts';
import { type SignInKind, SignInService } from '../auth/console/sign-in-service.ts';
import type { CallerLimits } from '../auth/limits/caller-limits.ts';
import type { Authenticate } from '../auth/principal/caller.ts';
import { createSchemeOf } from '../auth/principal/client-scheme.ts';
import type { LazySealer } from '../auth/sealed-users/lazy-sealer.ts';
import type { SvcJson } from '../config/project/svc-json.ts';
import type { AccessMode } from '../config/settings/exposure.ts';
import type { Settings } from '../config/settings/settings.ts';
import type { ConsoleSessionStorage } from '../storage/auth/console-sessions.ts';

export interface ConsoleSignInParts {
  settings: Settings;
  project: SvcJson;
  mode: AccessMode;
  storage: ConsoleSessionStorage;
  sealer: LazySealer;
  limits: CallerLimits;
  /** How API clients authenticate, without limits. */
  deployment: Authenticate;
  platform: Authenticate;
}

export interface ConsoleSignIn {
  sessions: ConsoleSessions;
  handlers: Handlers<typeof consoleRoutes>;
}

export const createConsoleSignIn = (parts: ConsoleSignInParts): ConsoleSignIn => {
  const { settings, project, mode, storage, sealer, limits, deployment, platform } = parts;
  const signIn = signInOf(mode, project.raw.console?.auth);
  const sessions = new ConsoleSessions({
    storage,
    sealer,
    mode: mode.kind,
    credentialHeader: signIn.kind === 'bearer' ? 'authorization' : signIn.header?.toLowerCase(),
    schemeOf: createSchemeOf(settings.http.trustedProxies),
    ...settings.http.consoleSessions,
  });
  const limited = (authenticate: Authenticate): Authenticate => limits.around(authenticate);
  const service = new SignInService({ sessions, signIn, deployment, platform, limited });
  return { sessions, handlers: sessionHandlers(service, sessions) };
};

type ConsoleAuth = NonNullable<SvcJson['raw']['console']>['auth'];

const signInOf = ({ kind }: AccessMode, auth: ConsoleAuth): SignInKind => {
  if (kind === 'anonymous') return { kind: 'none', header: null };
  if (kind === 'keys') return { kind: 'key', header: null };
  if (auth === undefined) return { kind: 'undeclared', header: null };
  return auth.kind === 'header' ? { kind: 'header', header: auth.name } : { kind: 'bearer', header: null };
};
