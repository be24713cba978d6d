import type { workspaceRoutes } from '@svc/contract';
import type { Handlers } from '../../api/handlers.ts';
import { grantOf } from '../keys/grant-of.ts';
import type { KeyAuthenticator } from '../keys/key-authenticator.ts';
import type { WorkspaceService } from './workspace-service.ts';

export const workspaceHandlers = (
  workspaces: WorkspaceService,
  authenticator: Pick<KeyAuthenticator, 'forget'>,
): Handlers<typeof workspaceRoutes> => ({
  listWorkspaces: (_, call) => workspaces.list(grantOf(call.caller)),

  getSettings: async (_, call) => ({ ...(await workspaces.get(grantOf(call.caller))), tenant_handle: null }),

  createWorkspace: async ({ body }, call) => {
    const grant = grantOf(call.caller);
    const made = await workspaces.create(body.display_name, grant);
    authenticator.forget(grant.key_id);
    return made;
  },
});
