import { randomUUID } from 'node:crypto';
import type { Project } from '@svc/contract';
import { notFound, Problem } from '@svc/contract/problem';
import type { ProjectRow, ProjectStorage } from '../../storage/tracing/projects.ts';

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

export class ProjectService {
  readonly #projects: ProjectStorage;
  /** Cache, by workspace and name. */
  readonly #ids = new Map<string, { id: string; untilMs: number }>();
  /** Incremented by every deletion. A lookup that began before a deletion is not cached. */
  #deletions = 0;

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
    const before = this.#deletions;
    for (const [name, id] of await this.#projects.ensure(tenant_id, unknown)) {
      known.set(name, id);
      if (this.#deletions === before)
        this.#ids.set(`${tenant_id}/${name}`, { id, untilMs: performance.now() + freshMs });
    }
    return known;
  }

  async list(
    tenant_id: string,
    page: { name?: string | undefined; limit: number; offset: number },
  ): Promise<Project[]> {
    if (page.name === undefined)
      return (await this.#projects.list(tenant_id, page.limit, page.offset)).map(toProject);
    const found = page.offset > 0 ? undefined : await this.#projects.findNamed(tenant_id, page.name);
    return found ? [toProject(found)] : [];
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
    this.#deletions++;
    for (const [name, known] of this.#ids) if (known.id === id) this.#ids.delete(name);
    if (!existed) throw notFound('Project', id);
    await this.#projects.sweep(tenant_id, sweptAtOnce);
  }
}

const toProject = (row: ProjectRow): Project => ({
  ...row,
  extra: row.extra === null ? null : (JSON.parse(row.extra) as Record<string, unknown>),
});
