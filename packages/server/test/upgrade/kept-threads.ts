// Threads that nothing changes after the previous release has created them: every release must return the same lists and states.
import { isDeepStrictEqual } from 'node:util';
import type { UpgradeExceptions } from '../../scripts/previous-release.ts';
import { sendOnce } from '../faults/caller.ts';
import type { SvcNode } from '../faults/node-process.ts';

/** Responses by path. */
type Snapshot = Record<string, unknown>;

export interface ServedBy {
  node: SvcNode;
  isPrevious: boolean;
}

/** Differences that are known. */
type Known = Pick<UpgradeExceptions, 'changedFields' | 'addedFields'>;

const count = 4;

export class KeptThreads {
  readonly #name: string;
  readonly #snapshot: Snapshot;
  readonly #isPrevious: boolean;
  readonly #known: Known;

  private constructor(name: string, snapshot: Snapshot, isPrevious: boolean, known: Known) {
    this.#name = name;
    this.#snapshot = snapshot;
    this.#isPrevious = isPrevious;
    this.#known = known;
  }

  /** Creates the threads at a node, and remembers what it returns of them. */
  static async create(name: string, { node, isPrevious }: ServedBy, known: Known): Promise<KeptThreads> {
    await createThreads(name, node);
    return new KeptThreads(name, await readThreads(name, node), isPrevious, known);
  }

  /** Returns what a node returns now and did not return then, except what a newer release adds, and the known differences. */
  async check({ node, isPrevious }: ServedBy): Promise<string[]> {
    const now = await readThreads(this.#name, node);
    const without = (found: Difference[], known: readonly { field: string }[]): string[] =>
      found.filter(({ path }) => !known.some(({ field }) => field === fieldOf(path))).map(({ text }) => text);
    const { changedFields, addedFields } = this.#known;
    if (isPrevious === this.#isPrevious)
      return without(
        [...differences(this.#snapshot, now), ...differences(now, this.#snapshot)],
        isPrevious ? addedFields : [],
      );
    const [older, newer] = isPrevious ? [now, this.#snapshot] : [this.#snapshot, now];
    return without(differences(older, newer), [...changedFields, ...addedFields]);
  }
}

const send = async (node: SvcNode, method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> => {
  const answer = await sendOnce(node.url, { method, path, body, tryMs: 30_000 });
  if (answer.status === 200) return answer.body;
  throw new Error(`${method} ${path} was answered with ${answer.status}: ${JSON.stringify(answer.body)}`);
};

/** Threads with two runs each, and some with an unanswered interrupt. */
const createThreads = async (name: string, node: SvcNode): Promise<void> => {
  for (let index = 0; index < count; index++) {
    const thread = await send(node, 'POST', '/threads', { metadata: { kept: name, index } });
    const { thread_id } = thread as { thread_id: string };
    const wait = (run: object) => send(node, 'POST', `/threads/${thread_id}/runs/wait`, run);
    if (index % 2 === 0)
      for (const marker of ['first', 'second'])
        await wait({ assistant_id: 'journal', input: { marker, steps: 3, ms: 0, taken: 0 } });
    else {
      await wait({ assistant_id: 'interrupter', input: {} });
      await wait({ assistant_id: 'interrupter', command: { resume: 'x' } });
      if (index % 4 === 1) await wait({ assistant_id: 'interrupter', input: {} });
    }
  }
};

const readThreads = async (name: string, node: SvcNode): Promise<Snapshot> => {
  const snapshot: Snapshot = {};
  const read = async (method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> =>
    (snapshot[path] = await send(node, method, path, body));
  const search = { metadata: { kept: name }, limit: 100, sort_by: 'created_at', sort_order: 'asc' };
  const threads = (await read('POST', '/threads/search', search)) as { thread_id: string }[];
  if (threads.length !== count) throw new Error(`${threads.length} threads were found instead of ${count}`);
  await read('POST', '/assistants/search', { limit: 100, sort_by: 'name' });
  for (const { thread_id } of threads)
    for (const path of ['', '/runs', '/state', '/history?limit=100'])
      await read('GET', `/threads/${thread_id}${path}`);
  return snapshot;
};

interface Difference {
  path: string;
  text: string;
}

/** Values of `expected` that differ in `actual`. */
const differences = (expected: unknown, actual: unknown, path = ''): Difference[] => {
  const report = (text: string): Difference[] => [{ path, text: `${path}: ${text}` }];
  if (typeof expected !== 'object' || expected === null || typeof actual !== 'object' || actual === null)
    return isDeepStrictEqual(expected, actual)
      ? []
      : report(`${JSON.stringify(expected)} and ${JSON.stringify(actual)}`);
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length !== actual.length)
    return report(`${expected.length} and ${actual.length} entries`);
  return Object.entries(expected).flatMap(([key, value]) =>
    differences(value, (actual as Record<string, unknown>)[key], path === '' ? key : `${path}.${key}`),
  );
};

const fieldOf = (path: string): string =>
  path
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '*')
    .replace(/\?limit=\d+/, '')
    .replace(/\.\d+(?=\.|$)/g, '.*');
