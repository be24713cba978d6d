import { randomUUID } from 'node:crypto';
import type { Assistant, assistantRoutes, GraphSchemas } from '@svc/contract';
import { invalid } from '@svc/contract/problem';
import type { Authorizer } from '../../auth/authorization/authorizer.ts';
import { everyRow, type RowFilter } from '../../storage/postgres/row-filter.ts';
import type { AssistantRow } from '../../storage/deployment/assistants/assistant-rows.ts';
import type { Handlers } from '../../api/handlers.ts';
import { textPage } from '../../api/pagination.ts';
import type { AssistantRequest, AssistantService } from './assistant-service.ts';
import type { IntrospectionService } from './introspection-service.ts';

const toAssistant = (row: AssistantRow): Assistant => row as Assistant;

const introspectionHandlers = (
  assistants: AssistantService,
  introspection: IntrospectionService,
): Pick<
  Handlers<typeof assistantRoutes>,
  'getAssistantGraph' | 'getAssistantSchemas' | 'getAssistantSubgraphs' | 'getAssistantSubgraphsOf'
> => ({
  getAssistantGraph: async ({ params, query }, { authorizer }) => {
    const assistant = await assistants.get(params.assistant_id, await readableAssistants(authorizer, params));
    const graph = await introspection.ask(assistant, { what: 'graph', xray: query.xray ?? false });
    return graph as { nodes: Record<string, unknown>[]; edges: Record<string, unknown>[] };
  },
  getAssistantSchemas: async ({ params }, { authorizer }) => {
    const assistant = await assistants.get(params.assistant_id, await readableAssistants(authorizer, params));
    return (await introspection.ask(assistant, { what: 'schemas' })) as GraphSchemas;
  },
  getAssistantSubgraphs: async ({ params, query }, { authorizer }) => {
    const assistant = await assistants.get(params.assistant_id, await readableAssistants(authorizer, params));
    const found = await introspection.ask(assistant, { what: 'subgraphs', recurse: query.recurse ?? false });
    return found as Record<string, Record<string, unknown>>;
  },
  getAssistantSubgraphsOf: async ({ params, query }, { authorizer }) => {
    const { namespace } = params;
    const assistant = await assistants.get(params.assistant_id, await readableAssistants(authorizer, params));
    const found = await introspection.ask(assistant, {
      what: 'subgraphs',
      namespace,
      recurse: query.recurse ?? false,
    });
    return found as Record<string, Record<string, unknown>>;
  },
});

export const assistantHandlers = (
  assistants: AssistantService,
  introspection: IntrospectionService,
): Handlers<typeof assistantRoutes> => ({
  createAssistant: async ({ body }, { authorizer }) => {
    const { assistant_id = randomUUID(), ...rest } = body;
    const { value, access } = await authorizer.authorize('assistants:create', { assistant_id, ...rest });
    const request = { ...value, if_exists: value.if_exists ?? 'raise' } as AssistantRequest;
    const readable =
      request.if_exists === 'do_nothing' ? await readableAssistants(authorizer, { assistant_id }) : everyRow;
    return toAssistant(await assistants.create(request, { creatable: access, readable }));
  },
  searchAssistants: async ({ body }, { authorizer }) => {
    const { select, limit, offset, sort_by, sort_order, name, ...requested } = body;
    const { value, access } = await authorizer.authorize('assistants:search', {
      ...requested,
      limit,
      offset,
    });
    const page = { limit: value.limit, offset: value.offset, sort_by, sort_order } as const;
    const { graph_id, metadata } = value;
    const found = await assistants.search({ graph_id, metadata, name }, page, access, select);
    return textPage(found.page, page.offset, found.total);
  },
  countAssistants: async ({ body }, { authorizer }) => {
    const { name, ...requested } = body;
    const { value, access } = await authorizer.authorize('assistants:search', {
      ...requested,
      limit: 0,
      offset: 0,
    });
    return assistants.count({ graph_id: value.graph_id, metadata: value.metadata, name }, access);
  },
  getAssistant: async ({ params }, { authorizer }) =>
    toAssistant(await assistants.get(params.assistant_id, await readableAssistants(authorizer, params))),
  updateAssistant: async ({ params, body }, { authorizer }) => {
    const { value, access } = await authorizer.authorize('assistants:update', {
      ...body,
      ...params,
      version: undefined,
    });
    const { assistant_id: _, version: _version, ...patch } = value;
    return toAssistant(await assistants.update(params.assistant_id, patch, access));
  },
  deleteAssistant: async ({ params, query }, { authorizer }) => {
    const { access } = await authorizer.authorize('assistants:delete', params);
    const threads = query.delete_threads
      ? (await authorizer.authorize('threads:delete', { thread_id: undefined, run_id: undefined })).access
      : undefined;
    await assistants.delete(params.assistant_id, access, threads);
  },
  ...introspectionHandlers(assistants, introspection),
  listAssistantVersions: async ({ params, body }, { authorizer }) => {
    const page = await assistants.versions(
      params.assistant_id,
      body,
      await readableAssistants(authorizer, params),
    );
    return textPage(page, body.offset);
  },
  setLatestAssistant: async ({ params, query, body }, { authorizer }) => {
    const version = body.version ?? query.version;
    if (version === undefined)
      throw invalid(['body', 'version'], 'version is required: the version to make current');
    const { access } = await authorizer.authorize('assistants:update', { ...unchanged, ...params, version });
    return toAssistant(await assistants.setLatest(params.assistant_id, version, access));
  },
});

const unchanged = {
  graph_id: undefined,
  config: undefined,
  context: undefined,
  metadata: undefined,
  name: undefined,
  description: undefined,
};

const readableAssistants = async (
  authorizer: Authorizer,
  { assistant_id }: { assistant_id: string },
): Promise<RowFilter> =>
  (await authorizer.authorize('assistants:read', { assistant_id, metadata: undefined })).access;
