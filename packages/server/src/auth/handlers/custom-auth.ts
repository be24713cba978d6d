// Custom authentication and authorization of a project.
import type { Logger } from 'pino';
import type { AuthConfig } from '../../config/project/auth.ts';
import type { Settings } from '../../config/settings/settings.ts';
import { AuthHandlers } from '../authorization/authorizer.ts';
import type { AuthDefinition } from './auth-definition.ts';
import type { Authenticate } from '../principal/caller.ts';
import { customAuthenticator } from './custom-authenticator.ts';

export interface CustomAuth {
  authenticate: Authenticate;
  handlers: AuthHandlers;
}

export const customAuth = (
  { authenticate, handlers, isUncached = false }: AuthDefinition,
  {
    config,
    settings,
    compat,
    logger,
  }: {
    config: Pick<AuthConfig, 'cache' | 'isStudioDisabled'> | undefined;
    settings: Settings['auth'];
    compat: boolean;
    logger: Logger;
  },
): CustomAuth => {
  const { timeoutMs, studioKey } = settings;
  const authHandlers = new AuthHandlers({ handlers, isLenient: compat, timeoutMs });
  const uncovered = authHandlers.uncovered();
  if (!compat && handlers.size > 0 && uncovered.length > 0)
    logger.warn(
      `No auth handler covers ${uncovered.join(', ')}: these operations are refused for every user`,
    );
  return {
    handlers: authHandlers,
    authenticate: customAuthenticator({
      authenticate,
      timeoutMs,
      compat,
      cache: isUncached ? undefined : config?.cache,
      studioKey: config?.isStudioDisabled ? undefined : studioKey,
    }),
  };
};
