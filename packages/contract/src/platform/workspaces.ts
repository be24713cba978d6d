import * as z from 'zod';
import { Time } from '../json.ts';
import { routesOf } from '../route.ts';

const route = routesOf('Workspaces');

export const Workspace = z
  .object({
    id: z.uuid(),
    display_name: z.string(),
    created_at: Time,
    role_name: z.string().describe('The role of the key in this workspace'),
    permissions: z.array(z.string()),
  })
  .meta({ id: 'Workspace' });
export type Workspace = z.output<typeof Workspace>;

export const workspaceRoutes = {
  listWorkspaces: route('get', '/api/v1/workspaces', {
    summary: 'The workspaces to which the key has access',
    access: { permission: 'read' },
    response: z.array(Workspace),
  }),
  getSettings: route('get', '/api/v1/settings', {
    summary: 'The workspace of the request, in the form that stock clients expect',
    access: { permission: 'read' },
    response: z.object({
      id: z.uuid(),
      display_name: z.string(),
      created_at: Time,
      tenant_handle: z.string().nullable(),
    }),
  }),
  createWorkspace: route('post', '/api/v1/workspaces', {
    audited: 'workspace.create',
    summary: 'Create a workspace, to which the key of the request gets access',
    access: { permission: 'admin' },
    body: z.object({ display_name: z.string().trim().min(1).max(256) }),
    response: Workspace,
  }),
};
