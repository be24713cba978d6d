// The settings in force and the server processes, for those who operate the server: paths and addresses are not for every workspace.
import type { ServerSetting, serverSettingRoutes, serverWorkerRoutes } from '@svc/contract';
import { Problem } from '@svc/contract/problem';
import type { Call, Handlers } from '../../api/handlers.ts';
import type { WorkerStorage } from '../../storage/deployment/workers.ts';
import type { WorkspaceStorage } from '../../storage/tracing/workspaces.ts';
import { tenantOf } from '../principal/caller.ts';
import { defaultWorkspace } from './default-workspace.ts';

export interface ServerParts {
  settings: readonly ServerSetting[];
  workspaces: Pick<WorkspaceStorage, 'oldestNamed'>;
  workers: Pick<WorkerStorage, 'list'>;
  /** Milliseconds after its last report from which a worker is silent. */
  workerTtlMs: number;
}

const workersMax = 1_000;

export const serverHandlers = ({
  settings,
  workspaces,
  workers,
  workerTtlMs,
}: ServerParts): Handlers<typeof serverSettingRoutes & typeof serverWorkerRoutes> => {
  /** Throws `forbidden` for administrators of other workspaces. */
  const requireOperator = async (call: Call, what: string): Promise<void> => {
    const first = await workspaces.oldestNamed(defaultWorkspace);
    if (first?.id !== tenantOf(call))
      throw new Problem(
        'forbidden',
        `The ${what} of the server are shown to administrators of the workspace ${defaultWorkspace}`,
      );
  };
  return {
    listServerSettings: async (_, call) => {
      await requireOperator(call, 'settings');
      return [...settings];
    },
    listServerWorkers: async (_, call) => {
      await requireOperator(call, 'workers');
      return workers.list(workerTtlMs, workersMax);
    },
  };
};
