import { deploymentRoutes, systemRoutes, type Routes } from '@svc/contract';
import type { SvcJson } from '../config/project/svc-json.ts';
import type { Settings } from '../config/settings/settings.ts';

type ServedProject = Pick<SvcJson, 'disabled' | 'ui'>;

const meta = new Set(['getInfo', 'getMetrics', 'getOpenApi']);

const authenticated = (route: Routes[string]): Routes[string] => ({ ...route, access: 'caller' });

/** Whether `/docs` has the API reference. */
export const servesReference = (
  { role }: Pick<Settings, 'role'>,
  { disabled }: Pick<SvcJson, 'disabled'>,
): boolean => role !== 'worker' && !disabled.meta;

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
