import { randomUUID } from 'node:crypto';
import type { Project, projectRoutes, TypedProject } from '@svc/contract';
import { invalid, notFound, Problem } from '@svc/contract/problem';
import { toCursor } from '../../api/cursor.ts';
import type { ProjectFilter, ProjectRow, ProjectStorage } from '../../storage/tracing/projects.ts';
import { addressOf, agentAddress } from './agent-address.ts';
import { parseCursor } from '../traces/run-page.ts';
import type { Handlers } from '../../api/handlers.ts';
import { tenantOf } from '../../auth/principal/caller.ts';

/** Size of the cache of project ids by name. */
const namesMax = 10_000;
/** Lifetime of a cache entry, after which deletions by other nodes are seen. */
const freshMs = 30_000;
/** Runs that the request to delete a project deletes itself. A periodic task deletes the rest. */
const sweptAtOnce = 5_000;

export interface NewProject {
  id: string | undefined;
  name: string;
  description: string | undefined;
  extra: Record<string, unknown> | undefined;
}

export interface ProjectChange {
  name?: string | undefined;
  description?: string | undefined;
  extra?: Record<string, unknown> | undefined;
}

export interface ProjectQuery {
  id?: string[] | undefined;
  name?: string | undefined;
  name_contains?: string | undefined;
}

export interface ProjectPage {
  type?: ('PROJECT' | 'AGENT' | 'EXPERIMENT')[] | undefined;
  cursor?: string | undefined;
  page_size?: number | undefined;
}

export interface TypedProjects {
  items: TypedProject[];
  has_more: boolean;
  next_cursor: string | null;
}

const pageDefault = 20;

export class ProjectService {
  readonly #projects: ProjectStorage;
  /** Cache, by workspace and name. */
  readonly #ids = new Map<string, { id: string; untilMs: number }>();
  /** Incremented when a name may have lost its project. A lookup that began before is not cached. */
  #changes = 0;

  constructor(projects: ProjectStorage) {
    this.#projects = projects;
  }

  /** Returns the ids of projects by name. Creates projects that do not exist. */
  async idsOf(tenant_id: string, names: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
    const known = new Map<string, string>();
    const unknown: string[] = [];
    for (const name of names) {
      const found = this.#ids.get(`${tenant_id}/${name}`);
      if (found === undefined || performance.now() > found.untilMs) unknown.push(name);
      else known.set(name, found.id);
    }
    if (unknown.length === 0) return known;
    if (this.#ids.size > namesMax) this.#ids.clear();
    const before = this.#changes;
    for (const [name, id] of await this.#projects.ensure(tenant_id, unknown)) {
      known.set(name, id);
      if (this.#changes === before)
        this.#ids.set(`${tenant_id}/${name}`, { id, untilMs: performance.now() + freshMs });
    }
    return known;
  }

  async list(tenant_id: string, query: ProjectQuery & { limit: number; offset: number }): Promise<Project[]> {
    const found = await this.#projects.search(tenant_id, filterOf(query), query);
    return found.map(({ row }) => toProject(row));
  }

  async page(tenant_id: string, query: ProjectQuery & ProjectPage): Promise<TypedProjects> {
    const { type = ['PROJECT', 'AGENT'], cursor, page_size = pageDefault } = query;
    const [withAgents, withOthers] = [type.includes('AGENT'), type.includes('PROJECT')];
    if (!withAgents && !withOthers) return { items: [], has_more: false, next_cursor: null };
    const after = cursor === undefined ? null : parseCursor(cursor);
    const isAgent = withAgents && withOthers ? null : withAgents;
    const of = { ...filterOf(query), isAgent };
    const found = await this.#projects.search(tenant_id, of, { after, limit: page_size + 1 });
    const shown = found.slice(0, page_size);
    const last = found.length > page_size ? shown.at(-1) : undefined;
    const typeOf = ({ name }: { name: string }) => (agentAddress.test(name) ? 'AGENT' : 'PROJECT');
    return {
      items: shown.map(({ row }) => ({ ...toProject(row), type: typeOf(row) })),
      has_more: last !== undefined,
      next_cursor: last === undefined ? null : toCursor({ start_time: last.exact_start, id: last.row.id }),
    };
  }

  /** The id of the project of an agent's traces. */
  async resolve(tenant_id: string, agent: string, environment: string): Promise<string> {
    const name = addressOf(agent, environment);
    const found = await this.#projects.findNamed(tenant_id, name);
    if (found === undefined) throw notFound('Project of the address', name);
    return found.id;
  }

  /** Changes the fields that are given. */
  async change(tenant_id: string, id: string, { name, description, extra }: ProjectChange): Promise<Project> {
    const text = extra === undefined ? null : JSON.stringify(extra);
    const row = await this.#projects.change(tenant_id, id, {
      name: name ?? null,
      description: description ?? null,
      extra: text,
    });
    this.#forget(id);
    if (row) return toProject(row);
    await this.get(tenant_id, id);
    throw new Problem('conflict', 'A project with this name already exists');
  }

  #forget(id: string): void {
    this.#changes++;
    for (const [name, known] of this.#ids) if (known.id === id) this.#ids.delete(name);
  }

  /** With `upsert`, returns an existing project of this name instead of throwing conflict. */
  async create(tenant_id: string, project: NewProject, upsert: boolean): Promise<Project> {
    const { id = randomUUID(), name, description = null, extra } = project;
    const row = {
      tenant_id,
      id,
      name,
      description,
      extra: extra === undefined ? null : JSON.stringify(extra),
    };
    let found: ProjectRow | undefined;
    // Tries again when the project with the same name is deleted between the two statements.
    for (let tries = 1; tries <= 2 && found === undefined; tries++) {
      const made = await this.#projects.create(row);
      if (made) return toProject(made);
      found = await this.#projects.findNamed(tenant_id, name);
    }
    if (found && upsert) return toProject(found);
    throw new Problem(
      'conflict',
      found
        ? 'A project with this name already exists'
        : 'A project with this id already exists, or was deleted recently',
    );
  }

  async get(tenant_id: string, id: string): Promise<Project> {
    const row = await this.#projects.find(tenant_id, id);
    if (row === undefined) throw notFound('Project', id);
    return toProject(row);
  }

  /** Deletes the project with its trace runs and their feedback. */
  async delete(tenant_id: string, id: string): Promise<void> {
    const existed = await this.#projects.delete(tenant_id, id);
    this.#forget(id);
    if (!existed) throw notFound('Project', id);
    await this.#projects.sweep(tenant_id, sweptAtOnce);
  }
}

const filterOf = ({ id, name, name_contains }: ProjectQuery): ProjectFilter => ({
  ids: id,
  name,
  name_contains,
});

const toProject = (row: ProjectRow): Project => ({
  ...row,
  extra: row.extra === null ? null : (JSON.parse(row.extra) as Record<string, unknown>),
  reference_dataset_id: null,
});

export const projectHandlers = (projects: ProjectService): Handlers<typeof projectRoutes> => ({
  listProjects: ({ query }, call) => projects.list(tenantOf(call), query),

  listTypedProjects: ({ query }, call) => projects.page(tenantOf(call), query),

  resolveProject: async ({ query }, call) => {
    const { kind, id, environment } = query;
    if (kind !== 'AGENT')
      throw new Problem('not_supported', `kind ${kind}: this server has no experiments and evaluators`);
    if (id === undefined || environment === undefined)
      throw invalid(['query', 'id'], 'an AGENT needs id and environment');
    return { session_id: await projects.resolve(tenantOf(call), id, environment) };
  },

  changeProject: ({ params, body }, call) => projects.change(tenantOf(call), params.session_id, body),

  createProject: ({ body, query }, call) => {
    const { id, name, description, extra } = body;
    return projects.create(tenantOf(call), { id, name, description, extra }, query.upsert === true);
  },

  deleteProject: async ({ params }, call) => {
    await projects.delete(tenantOf(call), params.session_id);
    return undefined;
  },

  getProject: ({ params }, call) => projects.get(tenantOf(call), params.session_id),
});
