import type { Assistant, GraphSchemas } from '@svc/contract';
import type { Body, CallOptions, Transport } from './transport.ts';

/** Every method that takes an assistant id also takes a graph id, which means the graph's default assistant. */
export class AssistantsClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** @example await client.assistants.create({ graph_id: 'agent', name: 'terse', config: { configurable: { style: 'terse' } } }); */
  create(body: Body<'createAssistant'>, options: CallOptions = {}): Promise<Assistant> {
    return this.#transport.call('createAssistant', { body }, options);
  }

  get(assistantId: string, options: CallOptions = {}): Promise<Assistant> {
    return this.#transport.call('getAssistant', { params: { assistant_id: assistantId } }, options);
  }

  search(body: Body<'searchAssistants'> = {}, options: CallOptions = {}): Promise<Assistant[]> {
    return this.#transport.call('searchAssistants', { body }, options);
  }

  count(body: Body<'countAssistants'> = {}, options: CallOptions = {}): Promise<number> {
    return this.#transport.call('countAssistants', { body }, options);
  }

  /** Creates a new version. */
  update(assistantId: string, body: Body<'updateAssistant'>, options: CallOptions = {}): Promise<Assistant> {
    return this.#transport.call('updateAssistant', { params: { assistant_id: assistantId }, body }, options);
  }

  delete(
    assistantId: string,
    { deleteThreads, ...options }: CallOptions & { deleteThreads?: boolean } = {},
  ): Promise<void> {
    const params = { assistant_id: assistantId };
    return this.#transport.call(
      'deleteAssistant',
      { params, query: { delete_threads: deleteThreads } },
      options,
    );
  }

  /** Newest first. */
  versions(
    assistantId: string,
    body: Body<'listAssistantVersions'> = {},
    options: CallOptions = {},
  ): Promise<Assistant[]> {
    const params = { assistant_id: assistantId };
    return this.#transport.call('listAssistantVersions', { params, body }, options);
  }

  /** Makes a version the current one. */
  setLatest(assistantId: string, version: number, options: CallOptions = {}): Promise<Assistant> {
    const params = { assistant_id: assistantId };
    return this.#transport.call('setLatestAssistant', { params, body: { version } }, options);
  }

  /** Nodes and edges. `xray` includes subgraphs; a number limits how many levels. */
  graph(
    assistantId: string,
    { xray, ...options }: CallOptions & { xray?: boolean | number } = {},
  ): Promise<{ nodes: Record<string, unknown>[]; edges: Record<string, unknown>[] }> {
    const params = { assistant_id: assistantId };
    return this.#transport.call('getAssistantGraph', { params, query: { xray } }, options);
  }

  schemas(assistantId: string, options: CallOptions = {}): Promise<GraphSchemas> {
    return this.#transport.call('getAssistantSchemas', { params: { assistant_id: assistantId } }, options);
  }

  /** Schemas by node, or by `node|child` with `recurse`. */
  subgraphs(
    assistantId: string,
    { namespace, recurse, ...options }: CallOptions & { namespace?: string; recurse?: boolean } = {},
  ): Promise<Record<string, Record<string, unknown>>> {
    const params = { assistant_id: assistantId };
    const query = { recurse };
    return namespace === undefined
      ? this.#transport.call('getAssistantSubgraphs', { params, query }, options)
      : this.#transport.call('getAssistantSubgraphsOf', { params: { ...params, namespace }, query }, options);
  }
}
