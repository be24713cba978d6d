import type { Exposure } from '../config/settings/exposure.ts';
import type { RequestGuardOptions } from '../http/server/request-guard.ts';
import { mountPrefix } from './mount-prefix.ts';

/** The rules for requests of web pages, with and without a socket of the server's own. */
export const pageGuard = (
  served: Parameters<typeof mountPrefix>[0],
  { cors, mode }: Exposure,
): Pick<RequestGuardOptions, 'cors' | 'sameSite' | 'privatePath'> => ({
  cors,
  sameSite: mode.kind === 'anonymous',
  privatePath: `${mountPrefix(served)}/console`,
});
