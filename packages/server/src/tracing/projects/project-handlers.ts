import type { projectRoutes } from '@svc/contract';
import type { Handlers } from '../../api/handlers.ts';
import { grantOf } from '../../auth/keys/grant-of.ts';
import type { ProjectService } from './project-service.ts';

export const projectHandlers = (projects: ProjectService): Handlers<typeof projectRoutes> => ({
  listProjects: ({ query }, call) => projects.list(grantOf(call.caller).tenant_id, query),

  createProject: ({ body, query }, call) => {
    const { id, name, description, extra } = body;
    return projects.create(
      grantOf(call.caller).tenant_id,
      { id, name, description, extra },
      query.upsert === true,
    );
  },

  deleteProject: async ({ params }, call) => {
    await projects.delete(grantOf(call.caller).tenant_id, params.session_id);
    return undefined;
  },

  getProject: ({ params }, call) => projects.get(grantOf(call.caller).tenant_id, params.session_id),
});
