// Objects of each kind that belong to a user.
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { TestServer } from '../server.ts';

export interface Ids {
  thread_id: string;
  /** A thread without runs in flight. */
  idle_thread_id: string;
  run_id: string;
  /** A stateless run, which executes. */
  stateless_run_id: string;
  stateless_thread_id: string;
  checkpoint_id: string;
  assistant_id: string;
  cron_id: string;
  /** A preview. */
  job_id: string;
}

/** Sends a request as a user. */
export type Call = (method: string, path: string, body?: unknown) => ReturnType<TestServer['call']>;

/** Creates one object of each kind, marked with its owner. */
export const createObjects = async (call: Call, user: string, mark: string): Promise<Ids> => {
  const make = async <T>(method: string, path: string, body: unknown): Promise<T> => {
    const answer = await call(method, path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    return answer.body as T;
  };
  const metadata = { mark };
  const { assistant_id } = await make<Ids>('POST', '/assistants', {
    graph_id: 'probe',
    name: mark,
    metadata,
    config: { configurable: { secret: mark } },
  });
  await make('PATCH', `/assistants/${assistant_id}`, { description: mark });
  const { thread_id } = await make<Ids>('POST', '/threads', { metadata });
  const run = { assistant_id, metadata, input: { action: 'user', note: mark }, stream_resumable: true };
  await make('POST', `/threads/${thread_id}/runs/wait`, run);
  const { checkpoint_id } = await make<Ids>('GET', `/threads/${thread_id}/state`, undefined);
  const running = { ...run, input: { action: 'wait', note: mark } };
  const { run_id } = await make<Ids>('POST', `/threads/${thread_id}/runs`, running);
  const stateless = await make<Ids>('POST', '/runs', running);
  const { cron_id } = await make<Ids>('POST', `/threads/${thread_id}/runs/crons`, {
    assistant_id,
    schedule: '0 0 1 1 *',
    metadata,
    input: { note: mark },
  });
  await make('PUT', '/store/items', { namespace: [user, 'notes'], key: mark, value: { mark } });
  const { job_id } = await make<Ids>('POST', '/jobs', { kind: 'delete_threads', filter: { metadata } });
  const idle = await make<Ids>('POST', `/threads/${thread_id}/copy`, undefined);
  return {
    thread_id,
    idle_thread_id: idle.thread_id,
    run_id,
    stateless_run_id: stateless.run_id,
    stateless_thread_id: stateless.thread_id,
    checkpoint_id,
    assistant_id,
    cron_id,
    job_id,
  };
};

export const unknownIds = (): Ids => ({
  thread_id: randomUUID(),
  idle_thread_id: randomUUID(),
  run_id: randomUUID(),
  stateless_run_id: randomUUID(),
  stateless_thread_id: randomUUID(),
  checkpoint_id: randomUUID(),
  assistant_id: randomUUID(),
  cron_id: randomUUID(),
  job_id: randomUUID(),
});

/** Everything that belongs to alice, without the columns that change with time and leases. */
export const snapshot = async (database: TestServer['database']): Promise<unknown> => {
  const read = (name: string, text: string) => database.query({ name: `snapshot_${name}`, text }, []);
  const hers = `select thread_id from threads where metadata->>'owner' = 'alice'`;
  const runs = `select run_id from runs where thread_id in (${hers}) or metadata->>'owner' = 'alice'`;
  return Promise.all([
    read(
      'threads',
      `select (to_jsonb(t) - 'watched_until') as row from threads t where thread_id in (${hers}) order by thread_id`,
    ),
    read(
      'runs',
      `select (to_jsonb(r) - 'lease_until' - 'log') as row from runs r where run_id in (${runs}) order by run_id`,
    ),
    read('cancels', 'select run_id, action from run_cancels order by run_id'),
    read(
      'checkpoints',
      `select * from checkpoints where thread_id in (${hers}) order by thread_id, checkpoint_id`,
    ),
    read('heads', `select * from checkpoint_heads where thread_id in (${hers}) order by thread_id`),
    read('assistants', `select * from assistants where metadata->>'owner' = 'alice'`),
    read('versions', `select * from assistant_versions where metadata->>'owner' = 'alice' order by version`),
    read('crons', `select * from crons where metadata->>'owner' = 'alice'`),
    read(
      'deliveries',
      `select * from webhook_deliveries where metadata->>'owner' = 'alice' order by delivery_id`,
    ),
    read('jobs', `select * from jobs where owner = ':alice' order by job_id`),
    read('items', `select * from store_items where 'alice' = any (namespace)`),
  ]);
};
