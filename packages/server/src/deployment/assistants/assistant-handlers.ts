import type { Assistant, assistantRoutes, GraphSchemas } from '@svc/contract';
import { invalid } from '@svc/contract/problem';
import type { AssistantRow } from '../../storage/assistants.ts';
import type { Handlers } from '../handlers.ts';
import { paginated } from '../pagination.ts';
import type { AssistantService } from './assistant-service.ts';
import type { IntrospectionService } from './introspection-service.ts';

const pick = (row: AssistantRow, fields: readonly string[] | undefined): Assistant =>
  (fields
    ? Object.fromEntries(Object.entries(row).filter(([key]) => fields.includes(key)))
    : row) as Assistant;

export const assistantHandlers = (
  assistants: AssistantService,
  introspection: IntrospectionService,
): Handlers<typeof assistantRoutes> => ({
  createAssistant: async ({ body }) => pick(await assistants.create(body), undefined),
  searchAssistants: async ({ body }) => {
    const { select, limit, offset, sort_by, sort_order, ...filter } = body;
    const page = { limit, offset, sort_by, sort_order } as const;
    const found = await assistants.search(filter, page);
    return paginated(
      found.assistants.map((row) => pick(row, select)),
      found.total,
      page,
    );
  },
  countAssistants: ({ body }) => assistants.count(body),
  getAssistant: async ({ params }) => pick(await assistants.get(params.assistant_id), undefined),
  updateAssistant: async ({ params, body }) =>
    pick(await assistants.update(params.assistant_id, body), undefined),
  deleteAssistant: async ({ params, query }) => {
    await assistants.delete(params.assistant_id, query.delete_threads ?? false);
  },
  getAssistantGraph: async ({ params, query }) => {
    const assistant = await assistants.get(params.assistant_id);
    const graph = await introspection.ask(assistant, { what: 'graph', xray: query.xray ?? false });
    return graph as { nodes: Record<string, unknown>[]; edges: Record<string, unknown>[] };
  },
  getAssistantSchemas: async ({ params }) => {
    const assistant = await assistants.get(params.assistant_id);
    return (await introspection.ask(assistant, { what: 'schemas' })) as GraphSchemas;
  },
  getAssistantSubgraphs: async ({ params, query }) => {
    const assistant = await assistants.get(params.assistant_id);
    const found = await introspection.ask(assistant, { what: 'subgraphs', recurse: query.recurse ?? false });
    return found as Record<string, Record<string, unknown>>;
  },
  getAssistantSubgraphsOf: async ({ params, query }) => {
    const assistant = await assistants.get(params.assistant_id);
    const { namespace } = params;
    const found = await introspection.ask(assistant, {
      what: 'subgraphs',
      namespace,
      recurse: query.recurse ?? false,
    });
    return found as Record<string, Record<string, unknown>>;
  },
  listAssistantVersions: async ({ params, body }) =>
    (await assistants.versions(params.assistant_id, body)).map((row) => pick(row, undefined)),
  setLatestAssistant: async ({ params, query, body }) => {
    const version = body.version ?? query.version;
    if (version === undefined)
      throw invalid(['body', 'version'], 'version is missing: which one shall be the current one?');
    return pick(await assistants.setLatest(params.assistant_id, version), undefined);
  },
});
