import { deploymentRoutes, systemRoutes, type Routes } from '@svc/contract';
import type { SvcJson } from '../config/project/svc-json.ts';
import type { Settings } from '../config/settings/settings.ts';

type ServedProject = Pick<SvcJson, 'disabled' | 'ui'>;

const meta = new Set(['getInfo', 'getMetrics', 'getDocs', 'getOpenApi']);

const authenticated = (route: Routes[string]): Routes[string] => ({ ...route, access: 'caller' });

/** The guide is served where `/docs` is, except by workers. */
export const servesGuide = (
  { role, http }: Pick<Settings, 'role' | 'http'>,
  { disabled }: Pick<SvcJson, 'disabled'>,
): boolean => http.guide && role !== 'worker' && !disabled.meta;

/** The routes of the deployment API that this process serves. A worker serves only its health and metrics. */
export const servedRoutes = (role: Settings['role'], { disabled, ui }: ServedProject): Routes =>
  Object.fromEntries(
    Object.entries<Routes[string]>(role === 'worker' ? systemRoutes : deploymentRoutes)
      .filter(([name, { tag }]) => !disabled.tags.has(tag) && !(disabled.meta && meta.has(name)))
      .map(([name, route]) => [
        name,
        ui.isAuthenticated && name === 'getUiFile' ? authenticated(route) : route,
      ]),
  );
