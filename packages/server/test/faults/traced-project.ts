// A tracing project of a node, and its exports to a folder, by requests to the platform API.
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { type Answer, sendOnce } from './caller.ts';

export interface Place {
  /** Of the node. */
  url: string;
  key: string;
}

const dayMs = 86_400_000;
/** All trace runs start on the day before the test. */
const day = new Date(Date.now() - dayMs).toISOString().slice(0, 10);

export const callPlatform = (
  { url, key }: Place,
  method: 'GET' | 'POST',
  path: string,
  body?: object,
): Promise<Answer> =>
  sendOnce(url, { method, path: `/api${path}`, body, headers: { 'x-api-key': key }, tryMs: 30_000 });

export class TracedProject {
  readonly name: string;
  readonly id: string;
  /** Trace runs that a response has acknowledged. */
  acknowledged = 0;
  readonly #place: Place;

  private constructor(place: Place, name: string, id: string) {
    this.#place = place;
    this.name = name;
    this.id = id;
  }

  static async create(place: Place): Promise<TracedProject> {
    const name = `project ${randomUUID()}`;
    const { status, body } = await callPlatform(place, 'POST', '/v1/sessions', { name });
    expect(status, JSON.stringify(body)).toBe(200);
    return new TracedProject(place, name, (body as { id: string }).id);
  }

  /** Stores trace runs, each of a thread of its own. Returns their ids, or throws if they are not acknowledged. */
  async ingest(count: number): Promise<string[]> {
    const post = Array.from({ length: count }, () => {
      const id = randomUUID();
      return {
        id,
        trace_id: id,
        name: 'agent',
        run_type: 'chain',
        start_time: new Date(Date.parse(`${day}T00:00:00Z`) + Math.random() * dayMs).toISOString(),
        session_name: this.name,
        inputs: { text: randomUUID().repeat(30) },
        extra: { metadata: { thread_id: id } },
      };
    });
    const { status, body } = await callPlatform(this.#place, 'POST', '/v1/runs/batch', { post });
    if (status !== 202) throw new Error(`POST /runs/batch: ${status} ${JSON.stringify(body)}`);
    this.acknowledged += count;
    return post.map(({ id }) => id);
  }

  /** How many trace runs and threads the lists have, at most 100, and how many trace runs the statistics count. */
  async seen(): Promise<{ listed: number; threads: number; summed: number }> {
    const [list, threads, sum] = await Promise.all([
      callPlatform(this.#place, 'POST', '/v1/runs/query', { session: [this.id], limit: 100 }),
      callPlatform(this.#place, 'POST', '/v2/threads/query', { project_id: this.id, page_size: 100 }),
      callPlatform(this.#place, 'POST', '/v1/runs/stats', { session: [this.id] }),
    ]);
    for (const { status, body } of [list, threads, sum])
      if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
    return {
      listed: (list.body as { runs: unknown[] }).runs.length,
      threads: (threads.body as { items: unknown[] }).items.length,
      summed: (sum.body as { run_count: number }).run_count,
    };
  }

  /** Creates an export of all trace runs. Returns its id. */
  async export(bulk_export_destination_id: string): Promise<string> {
    const { status, body } = await callPlatform(this.#place, 'POST', '/v1/bulk-exports', {
      bulk_export_destination_id,
      session_id: this.id,
      start_time: `${day}T00:00:00Z`,
      end_time: new Date(Date.parse(`${day}T00:00:00Z`) + dayMs).toISOString(),
    });
    expect(status, JSON.stringify(body)).toBe(200);
    return (body as { id: string }).id;
  }
}
