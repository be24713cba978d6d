import { deploymentRoutes, systemRoutes, type Routes } from '@svc/contract';
import type { DisabledRoutes } from '../config/project/route-switches.ts';
import type { Settings } from '../config/settings/settings.ts';

const meta = new Set(['getInfo', 'getMetrics', 'getDocs', 'getOpenApi']);

/** The routes of the deployment API that this process serves. A worker serves only its health and metrics. */
export const servedRoutes = (role: Settings['role'], disabled: DisabledRoutes): Routes =>
  Object.fromEntries(
    Object.entries<Routes[string]>(role === 'worker' ? systemRoutes : deploymentRoutes).filter(
      ([name, { tag }]) => !disabled.tags.has(tag) && !(disabled.meta && meta.has(name)),
    ),
  );
