import type { SvcJson } from '../config/project/svc-json.ts';
import type { Settings } from '../config/settings/settings.ts';
import type { Exposure } from '../config/settings/exposure.ts';
import type { RequestGuardOptions } from '../http/server/request-guard.ts';

/** The path before all routes; empty by default. */
export const mountPrefix = ({ settings, project }: { settings: Settings; project: SvcJson }): string =>
  settings.http.mountPrefix ?? project.raw.http?.mount_prefix ?? '';

/** The rules for requests of web pages, with and without a socket of the server's own. */
export const pageGuard = (
  served: Parameters<typeof mountPrefix>[0],
  { cors, mode }: Exposure,
): Pick<RequestGuardOptions, 'cors' | 'sameSite' | 'privatePath'> => ({
  cors,
  sameSite: mode.kind === 'anonymous',
  privatePath: `${mountPrefix(served)}/console`,
});
