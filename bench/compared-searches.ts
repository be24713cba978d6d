// Searches of threads in tables of 1,000 and 1,000,000 threads. Of a server without a database nothing is measured.
import pg from 'pg';
import { alone, type Figures } from './compared-requests.ts';
import type { Target } from './targets.ts';

/** One thread of ten waits for a person. */
const fill = async (db: pg.Client, count: number): Promise<void> => {
  // Without triggers: the one of new threads takes a lock for each, and a million do not fit into one transaction.
  await db.query('set session_replication_role = replica');
  await db.query(
    `insert into svc.threads (thread_id, blob_space, metadata, status, created_at, updated_at)
     select id, id, jsonb_build_object('customer', n % 1000), case when n % 10 = 0 then 'interrupted' else 'idle' end, at, at
     from (select gen_random_uuid() as id, n, now() - make_interval(secs => $1::int - n) as at from generate_series(1, $1::int) n) s`,
    [count],
  );
  await db.query('vacuum analyze svc.threads');
};

/** By a plain request: stock clients do not return headers. */
const page = async ({ url }: Target, request: object): Promise<{ cursor: string | null }> => {
  const response = await fetch(`${url}/threads/search`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
  });
  await response.text();
  return { cursor: response.headers.get('x-pagination-cursor') };
};

export const searches = async (target: Target): Promise<Figures> => {
  const { client, dataDir } = target;
  if (dataDir === undefined) return {};
  const p50 = async (work: () => Promise<unknown>): Promise<number> => (await alone(target, 200, work)).p50Ms;
  const db = new pg.Client({ host: dataDir, port: 5432, user: 'svc', database: 'postgres' });
  await db.connect();
  try {
    const figures: Figures = {};
    await db.query('truncate svc.threads cascade');
    let stored = 0;
    for (const count of [1_000, 200_000, 1_000_000]) {
      await fill(db, count - stored);
      stored = count;
      figures[`newest${count}Ms`] = await p50(() => client.threads.search({ limit: 10 }));
      figures[`status${count}Ms`] = await p50(() =>
        client.threads.search({ status: 'interrupted', limit: 10 }),
      );
    }
    figures['offset1000000Ms'] = await p50(() => client.threads.search({ limit: 10, offset: 10_000 }));
    const { cursor } = await page(target, { limit: 1, offset: 100_000 });
    if (cursor === null) throw new Error('the page has no cursor');
    figures['cursor1000000Ms'] = await p50(() => page(target, { limit: 10, cursor }));
    return figures;
  } finally {
    await db.end();
  }
};
