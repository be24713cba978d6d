// The settings in force, for those who operate the server: paths and addresses are not for every workspace.
import type { ServerSetting, serverSettingRoutes } from '@svc/contract';
import { Problem } from '@svc/contract/problem';
import type { Handlers } from '../../api/handlers.ts';
import { grantOf } from '../keys/grant-of.ts';
import type { WorkspaceStorage } from '../../storage/tracing/workspaces.ts';
import { defaultWorkspace } from './default-workspace.ts';

export const serverSettingHandlers = (
  settings: readonly ServerSetting[],
  workspaces: Pick<WorkspaceStorage, 'oldestNamed'>,
): Handlers<typeof serverSettingRoutes> => ({
  listServerSettings: async (_, call) => {
    const first = await workspaces.oldestNamed(defaultWorkspace);
    if (first?.id !== grantOf(call.caller).tenant_id)
      throw new Problem(
        'forbidden',
        `The settings of the server are shown to administrators of the workspace ${defaultWorkspace}`,
      );
    return [...settings];
  },
});
