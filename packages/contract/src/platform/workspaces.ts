import { z } from 'zod';
import { Time } from '../json.ts';
import { route } from '../route.ts';

const tag = 'Workspaces';

export const Workspace = z
  .object({
    id: z.uuid(),
    display_name: z.string(),
    created_at: Time,
    role_name: z.string().describe('What the key may do here'),
    permissions: z.array(z.string()),
  })
  .meta({ id: 'Workspace' });
export type Workspace = z.output<typeof Workspace>;

export const workspaceRoutes = {
  listWorkspaces: route({
    method: 'get',
    path: '/api/v1/workspaces',
    summary: 'The workspaces that the key reaches',
    tag,
    access: { permission: 'read' },
    response: z.array(Workspace),
  }),
  getSettings: route({
    method: 'get',
    path: '/api/v1/settings',
    summary: 'The workspace of the request, as stock clients ask for it',
    tag,
    access: { permission: 'read' },
    response: z.object({
      id: z.uuid(),
      display_name: z.string(),
      created_at: Time,
      tenant_handle: z.string().nullable(),
    }),
  }),
  createWorkspace: route({
    method: 'post',
    path: '/api/v1/workspaces',
    summary: 'Make a workspace; the key that makes it reaches it from then on',
    tag,
    access: { permission: 'admin' },
    body: z.object({ display_name: z.string().trim().min(1).max(256) }),
    response: Workspace,
  }),
};
