import type { projectRoutes } from '@svc/contract';
import { invalid, Problem } from '@svc/contract/problem';
import type { Handlers } from '../../api/handlers.ts';
import { grantOf } from '../../auth/keys/grant-of.ts';
import type { ProjectService } from './project-service.ts';

export const projectHandlers = (projects: ProjectService): Handlers<typeof projectRoutes> => ({
  listProjects: ({ query }, call) => projects.list(grantOf(call.caller).tenant_id, query),

  listTypedProjects: ({ query }, call) => projects.page(grantOf(call.caller).tenant_id, query),

  resolveProject: async ({ query }, call) => {
    const { kind, id, environment } = query;
    if (kind !== 'AGENT')
      throw new Problem('not_supported', `kind ${kind}: this server has no experiments and evaluators`);
    if (id === undefined || environment === undefined)
      throw invalid(['query', 'id'], 'an AGENT needs id and environment');
    return { session_id: await projects.resolve(grantOf(call.caller).tenant_id, id, environment) };
  },

  changeProject: ({ params, body }, call) =>
    projects.change(grantOf(call.caller).tenant_id, params.session_id, body),

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
