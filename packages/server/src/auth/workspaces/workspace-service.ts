import { randomUUID } from 'node:crypto';
import type { Workspace, workspaceRoutes } from '@svc/contract';
import { invalid, notFound, Problem } from '@svc/contract/problem';
import { grantOf, type KeyGrant } from '../principal/caller.ts';
import type { WorkspaceRow, WorkspaceStorage } from '../../storage/tracing/workspaces.ts';
import type { Handlers } from '../../api/handlers.ts';
import type { KeyAuthenticator } from '../keys/key-authenticator.ts';

export class WorkspaceService {
  readonly #workspaces: WorkspaceStorage;

  constructor(workspaces: WorkspaceStorage) {
    this.#workspaces = workspaces;
  }

  async list(grant: KeyGrant): Promise<Workspace[]> {
    return (await this.#workspaces.list([...grant.workspaces])).map((row) => toWorkspace(row, grant));
  }

  async get({ tenant_id }: KeyGrant): Promise<WorkspaceRow> {
    const [row] = await this.#workspaces.list([tenant_id]);
    if (row === undefined) throw notFound('Workspace', tenant_id);
    return row;
  }

  async create(display_name: string, grant: KeyGrant): Promise<Workspace> {
    if (display_name.includes('\0'))
      throw invalid(['body', 'display_name'], 'must not contain the character U+0000');
    const row = await this.#workspaces.create({ id: randomUUID(), display_name }, grant.key_id);
    if (row === undefined) throw new Problem('conflict', 'A workspace with this id exists already');
    return toWorkspace(row, grant);
  }
}

const toWorkspace = (row: WorkspaceRow, { role, permissions }: KeyGrant): Workspace => ({
  ...row,
  role_name: role,
  permissions: [...permissions],
});

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
