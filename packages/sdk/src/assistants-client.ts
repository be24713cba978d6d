import type { Assistant, assistantRoutes, CallInput, GraphSchemas } from '@svc/contract';
import { path, type CallOptions, type Transport } from './transport.ts';

type Body<K extends keyof typeof assistantRoutes> = NonNullable<
  CallInput<(typeof assistantRoutes)[K]>['body']
>;

/** Wherever an assistant id is asked for, a graph id means the default assistant of that graph. */
export class AssistantsClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** @example await client.assistants.create({ graph_id: 'agent', name: 'terse', config: { configurable: { style: 'terse' } } }); */
  create(body: Body<'createAssistant'>, options: CallOptions = {}): Promise<Assistant> {
    return this.#transport.json({ method: 'POST', path: '/assistants', body, ...options });
  }

  get(assistantId: string, options: CallOptions = {}): Promise<Assistant> {
    return this.#transport.json({ method: 'GET', path: path`/assistants/${assistantId}`, ...options });
  }

  search(body: Body<'searchAssistants'> = {}, options: CallOptions = {}): Promise<Assistant[]> {
    return this.#transport.json({ method: 'POST', path: '/assistants/search', body, ...options });
  }

  count(body: Body<'countAssistants'> = {}, options: CallOptions = {}): Promise<number> {
    return this.#transport.json({ method: 'POST', path: '/assistants/count', body, ...options });
  }

  /** Makes a new version. */
  update(assistantId: string, body: Body<'updateAssistant'>, options: CallOptions = {}): Promise<Assistant> {
    return this.#transport.json({
      method: 'PATCH',
      path: path`/assistants/${assistantId}`,
      body,
      ...options,
    });
  }

  delete(
    assistantId: string,
    { deleteThreads, ...options }: CallOptions & { deleteThreads?: boolean } = {},
  ): Promise<void> {
    const query = { delete_threads: deleteThreads };
    return this.#transport.json({
      method: 'DELETE',
      path: path`/assistants/${assistantId}`,
      query,
      ...options,
    });
  }

  /** Newest first. */
  versions(
    assistantId: string,
    body: Body<'listAssistantVersions'> = {},
    options: CallOptions = {},
  ): Promise<Assistant[]> {
    return this.#transport.json({
      method: 'POST',
      path: path`/assistants/${assistantId}/versions`,
      body,
      ...options,
    });
  }

  /** Makes a version the current one. */
  setLatest(assistantId: string, version: number, options: CallOptions = {}): Promise<Assistant> {
    return this.#transport.json({
      method: 'POST',
      path: path`/assistants/${assistantId}/latest`,
      body: { version },
      ...options,
    });
  }

  /** Nodes and edges; `xray` looks into subgraphs, a number says how deep. */
  graph(
    assistantId: string,
    { xray, ...options }: CallOptions & { xray?: boolean | number } = {},
  ): Promise<{ nodes: Record<string, unknown>[]; edges: Record<string, unknown>[] }> {
    return this.#transport.json({
      method: 'GET',
      path: path`/assistants/${assistantId}/graph`,
      query: { xray },
      ...options,
    });
  }

  schemas(assistantId: string, options: CallOptions = {}): Promise<GraphSchemas> {
    return this.#transport.json({
      method: 'GET',
      path: path`/assistants/${assistantId}/schemas`,
      ...options,
    });
  }

  /** Schemas by node, or by `node|child` with `recurse`. */
  subgraphs(
    assistantId: string,
    { namespace, recurse, ...options }: CallOptions & { namespace?: string; recurse?: boolean } = {},
  ): Promise<Record<string, Record<string, unknown>>> {
    const base = path`/assistants/${assistantId}/subgraphs`;
    const where = namespace === undefined ? base : base + path`/${namespace}`;
    return this.#transport.json({ method: 'GET', path: where, query: { recurse }, ...options });
  }
}
