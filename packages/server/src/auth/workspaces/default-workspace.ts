import { Problem } from '@svc/contract/problem';
import type { WorkspaceStorage } from '../../storage/tracing/workspaces.ts';

/** The name of the workspace that the first start creates, and into which the server traces its own runs. */
export const defaultWorkspace = 'default';

/** The id of this workspace. Throws `unavailable` before the first start has created it. */
export const defaultWorkspaceId = async (
  workspaces: Pick<WorkspaceStorage, 'oldestNamed'>,
): Promise<string> => {
  const workspace = await workspaces.oldestNamed(defaultWorkspace);
  if (workspace === undefined)
    throw new Problem('unavailable', `The workspace ${defaultWorkspace} does not exist yet`);
  return workspace.id;
};
