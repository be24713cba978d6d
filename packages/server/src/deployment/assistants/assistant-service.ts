// Assistants: graphs with a configuration, in versions.
import { randomUUID } from 'node:crypto';
import { notFound, Problem } from '@svc/contract/problem';
import { ownerKey } from '../../auth/authorization/authorizer.ts';
import type { AccessFilter } from '../../auth/authorization/access-filter.ts';
import { rowText } from '../../api/json-text.ts';
import type { PageOf } from '../../api/pagination.ts';
import type { AssistantRow } from '../../storage/deployment/assistants/assistant-rows.ts';
import {
  type AssistantFilter,
  type AssistantPage,
  assistantTexts,
  type ListedAssistant,
} from '../../storage/deployment/assistants/assistant-search.ts';
import {
  assistantLimits,
  type AssistantPatch,
  type DeletionObstacle,
  type NewAssistant,
} from '../../storage/deployment/assistants/assistants.ts';
import { everyRow, type RowFilter } from '../../storage/postgres/row-filter.ts';
import { outOfReach } from '../out-of-reach.ts';
import { ThreadDeletion } from '../threads/thread-deletion.ts';
import type { GraphDefaults } from '../../config/project/graph-defaults.ts';
import type { Storage } from '../../storage/storage.ts';
import { servedWithinMs } from '../../storage/deployment/workers.ts';
import { assistantIdOf, defaultAssistantId } from './default-assistant.ts';

type Given<T> = { [K in keyof T]?: T[K] | undefined };

export type AssistantRequest = Given<Omit<NewAssistant, 'graph_id'>> & {
  graph_id: string;
  if_exists: 'raise' | 'do_nothing';
};

/** Metadata of default assistants. */
const madeBySystem = { created_by: 'system' };

/** Attempts to find an assistant whose id is taken. */
const findTries = 2;

type Stores = Pick<Storage, 'assistants' | 'threads'>;

export class AssistantService {
  readonly #storage: Stores;
  readonly #graphs: ReadonlyMap<string, { description?: string | undefined }>;
  readonly #defaults: ReadonlyMap<string, GraphDefaults>;
  readonly defaultIds: ReadonlySet<string>;

  /** `defaults`: the config and the context with which default assistants are created, by graph id. */
  constructor(
    storage: Stores,
    graphs: ReadonlyMap<string, { description?: string | undefined }>,
    defaults: ReadonlyMap<string, GraphDefaults> = new Map(),
  ) {
    this.#storage = storage;
    this.#graphs = graphs;
    this.#defaults = defaults;
    this.defaultIds = new Set([...graphs.keys()].map(defaultAssistantId));
  }

  /**
   * Creates the default assistant of every graph. Default assistants of other graphs stay, with their crons and runs: another node may
   * execute those graphs, or this one after its next restart.
   */
  async syncDefaults(): Promise<void> {
    const { assistants } = this.#storage;
    const descriptions = await assistants.descriptions([...this.defaultIds], ownerKey);
    for (const [graph_id, { description = null }] of this.#graphs) {
      const assistant_id = defaultAssistantId(graph_id);
      if (descriptions.get(assistant_id) === description) continue;
      const { config = {}, context = {} } = this.#defaults.get(graph_id) ?? {};
      const assistant = {
        assistant_id,
        graph_id,
        name: graph_id,
        description,
        config,
        context,
        metadata: madeBySystem,
      };
      if (await assistants.create(assistant, { isDefault: true })) continue;
      // The id can be computed in advance. A client that created an assistant with this id must not define what everybody runs.
      await assistants.reset(assistant, ownerKey);
      const present = await assistants.find(assistant_id, everyRow);
      if (present && present.description !== description)
        await assistants.describe(assistant_id, description);
    }
    await assistants.markDefaults([...this.defaultIds]);
  }

  /** With `do_nothing`, an existing assistant is returned if the caller may create it and may read it. */
  async create(
    request: AssistantRequest,
    { creatable, readable }: { creatable: AccessFilter; readable: RowFilter },
  ): Promise<AssistantRow> {
    const { graph_id, if_exists } = request;
    this.#assertGraph(graph_id);
    const assistant_id = request.assistant_id ?? randomUUID();
    const assistant = {
      assistant_id,
      graph_id,
      name: request.name ?? graph_id,
      description: request.description ?? null,
      config: request.config ?? {},
      context: request.context ?? {},
      metadata: request.metadata ?? {},
    };
    const { [ownerKey]: owner } = assistant.metadata;
    const user_id = typeof owner === 'string' ? owner : undefined;
    const create = async (): Promise<AssistantRow | undefined> => {
      const made = await this.#storage.assistants.create(assistant, { user_id });
      if (made !== 'full') return made;
      isFull = true;
      return undefined;
    };
    let isFull = false;
    let created = await create();
    // Repeated, because the existing assistant may be deleted, and created again, between the two statements.
    for (let tries = 1; !created && if_exists === 'do_nothing' && tries <= findTries; tries++) {
      const existing = await this.#storage.assistants.find(assistant_id, readable);
      if (existing && creatable.matches(existing.metadata)) return existing;
      created = await create();
    }
    if (created) return created;
    if (isFull)
      throw new Problem(
        'conflict',
        `You have ${assistantLimits.perUser} assistants, which is the limit for one user. Delete some first`,
      );
    throw new Problem('conflict', `Assistant already exists: ${assistant_id}`);
  }

  /** By id, or by graph id for the default assistant. */
  async get(idOrGraphId: string, access: RowFilter): Promise<AssistantRow> {
    const row = await this.#storage.assistants.find(assistantIdOf(idOrGraphId), access);
    if (!row) throw notFound('Assistant', idOrGraphId);
    return row;
  }

  /** Always creates a new version, even without changes. */
  async update(idOrGraphId: string, patch: Given<AssistantPatch>, access: RowFilter): Promise<AssistantRow> {
    if (patch.graph_id !== undefined) this.#assertGraph(patch.graph_id);
    const given = Object.fromEntries(
      Object.entries(patch).filter(([, value]) => value !== undefined),
    ) as AssistantPatch;
    const update = () => this.#storage.assistants.update(assistantIdOf(idOrGraphId), given, access);
    let row = await update();
    if (!row) {
      await this.get(idOrGraphId, access);
      // The assistant may have been created after the first attempt.
      row = await update();
    }
    if (row === 'full')
      throw new Problem(
        'conflict',
        `Assistant ${idOrGraphId} has ${assistantLimits.versions} versions, which is the limit. Create another assistant`,
      );
    if (!row) throw outOfReach('assistant');
    return row;
  }

  async setLatest(idOrGraphId: string, version: number, access: RowFilter): Promise<AssistantRow> {
    const row = await this.#storage.assistants.setLatest(assistantIdOf(idOrGraphId), version, access);
    if (!row) throw notFound('Assistant version', `${version} of assistant ${idOrGraphId}`);
    return row;
  }

  async versions(
    idOrGraphId: string,
    page: { metadata?: object | undefined; limit: number; offset: number },
    access: RowFilter,
  ): Promise<PageOf<string>> {
    const { assistant_id } = await this.get(idOrGraphId, access);
    return toPage(await this.#storage.assistants.versions(assistant_id, page, access));
  }

  /**
   * `threads`: a filter of its threads that are deleted first, one after the other; undefined deletes none. When a deletion fails, some
   * threads may be deleted and the assistant is kept, so that the request can be repeated.
   */
  async delete(idOrGraphId: string, access: RowFilter, threads: RowFilter | undefined): Promise<void> {
    const { assistant_id } = await this.get(idOrGraphId, access);
    const { assistants } = this.#storage;
    if (threads) {
      assertDeletable(assistant_id, await assistants.deletionObstacle(assistant_id));
      await new ThreadDeletion(this.#storage).deleteOfAssistant(assistant_id, threads);
    }
    const outcome = await assistants.delete(assistant_id, access);
    if (outcome === 'missing') throw notFound('Assistant', idOrGraphId);
    if (outcome !== 'deleted') assertDeletable(assistant_id, outcome);
  }

  /** JSON texts. `select`: the requested fields. */
  async search(
    filter: AssistantFilter,
    page: AssistantPage,
    access: RowFilter,
    select?: readonly string[],
  ): Promise<{ page: PageOf<string>; total: number }> {
    const shown = this.#shown(filter);
    const [found, total] = await Promise.all([
      this.#storage.assistants.search(shown, page, access, select),
      this.#storage.assistants.count(shown, access),
    ]);
    return { page: toPage(found, select), total };
  }

  count(filter: AssistantFilter, access: RowFilter): Promise<number> {
    return this.#storage.assistants.count(this.#shown(filter), access);
  }

  /** Lists leave out default assistants of graphs that no node executes. */
  #shown(filter: AssistantFilter): AssistantFilter {
    return { ...filter, served: { graphs: [...this.#graphs.keys()], withinMs: servedWithinMs } };
  }

  #assertGraph(graph_id: string): void {
    if (this.#graphs.has(graph_id)) return;
    const known = [...this.#graphs.keys()].join(', ');
    throw new Problem(
      'not_found',
      `No graph found for ${JSON.stringify(graph_id)}. Available graphs: ${known}`,
    );
  }
}

/** Throws `conflict` with advice. */
const assertDeletable = (assistant_id: string, obstacle: DeletionObstacle | undefined): void => {
  if (obstacle === 'default')
    throw new Problem(
      'conflict',
      'A default assistant cannot be deleted over the API: remove its graph from the configuration, then run "svc assistants prune"',
    );
  if (obstacle === 'in_flight')
    throw new Problem(
      'conflict',
      `Assistant ${assistant_id} has runs in flight. Wait for them, or cancel them`,
    );
};

const toPage = ({ rows, ...more }: PageOf<ListedAssistant>, select?: readonly string[]): PageOf<string> => ({
  rows: rows.map((row) => rowText(row, assistantTexts, select)),
  ...more,
});
