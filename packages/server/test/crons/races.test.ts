// Crons that are created while their thread or assistant is deleted, and that fire while they are changed.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { CronService, planTick } from '../../src/deployment/crons/cron-service.ts';
import { AccessFilter } from '../../src/auth/authorization/access-filter.ts';
import type { Database } from '../../src/storage/postgres/database.ts';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { createStorage } from '../../src/storage/storage.ts';
import { testDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { lockWaiters, untilOneWaits } from '../lock-waiters.ts';
import { newAssistant } from '../runs/run-rows.ts';
import { fixture } from '../fixture.ts';

const db = fixture(() => testDatabase());
const storage = fixture(() => createStorage(db));
const crons = fixture(() => new CronService(storage, { accept: (webhook) => webhook }, { seal: () => null }));

const makeParts = async () => {
  const thread_id = randomUUID();
  const assistant_id = await newAssistant(db);
  await storage.threads.create({ thread_id, metadata: {}, config: {} });
  return { thread_id, assistant_id };
};
type Parts = Awaited<ReturnType<typeof makeParts>>;

/** Creates a cron that waits for a concurrent transaction; returns its thread, or the code of the problem. */
const createDuring = async (
  parts: Parts,
  deeds: { before?: (tx: Database) => Promise<unknown>; after?: (tx: Database) => Promise<unknown> },
): Promise<unknown> => {
  const { thread_id, assistant_id } = parts;
  const grant = { cron_id: randomUUID(), assistant: everyRow, thread: everyRow, user: undefined };
  let made: Promise<unknown> | undefined;
  await db.transact(async (tx) => {
    await deeds.before?.(tx);
    made = crons.create(thread_id, { assistant_id, schedule: '0 3 * * *' } as never, grant).then(
      (cron) => cron.thread_id,
      (error: { code?: unknown }) => error.code,
    );
    await untilOneWaits(db);
    await deeds.after?.(tx);
  });
  return made;
};

const deleteThread =
  ({ thread_id }: Parts) =>
  (tx: Database) =>
    createStorage(tx).threads.delete(thread_id, everyRow);
const deleteAssistant =
  ({ assistant_id }: Parts) =>
  (tx: Database) =>
    createStorage(tx).assistants.delete(assistant_id, everyRow);
/** Holds the creation of a cron after its thread and assistant have been checked. */
const holdCrons = (tx: Database) => tx.script('lock table crons in access exclusive mode');

describe('a cron', () => {
  it('is rejected with not_found while its thread or assistant is being deleted', async () => {
    for (const deletion of [deleteThread, deleteAssistant]) {
      const parts = await makeParts();
      expect(await createDuring(parts, { before: deletion(parts) })).toBe('not_found');
    }
  });

  it('is rejected with not_found when its thread or assistant is deleted after it was checked', async () => {
    for (const deletion of [deleteThread, deleteAssistant]) {
      const parts = await makeParts();
      expect(await createDuring(parts, { before: holdCrons, after: deletion(parts) })).toBe('not_found');
    }
  });

  it('is on the thread that another transaction deletes and creates again meanwhile', async () => {
    const parts = await makeParts();
    const { thread_id } = parts;
    const replace = async (tx: Database) => {
      await deleteThread(parts)(tx);
      await createStorage(tx).threads.create({ thread_id, metadata: {}, config: {} });
    };
    expect(await createDuring(parts, { before: replace })).toBe(thread_id);
  });
});

describe('a tick', () => {
  interface Version {
    input: { is: string };
    metadata: { is: string };
  }
  const versionOf = (is: string): Version => ({ input: { is }, metadata: { is } });

  const createDue = async (): Promise<{ cron_id: string; thread_id: string }> => {
    const { thread_id, assistant_id } = await makeParts();
    const cron_id = randomUUID();
    const body = { assistant_id, schedule: '0 3 * * *', ...versionOf('old') };
    const grant = { cron_id, assistant: everyRow, thread: everyRow, user: undefined };
    await crons.create(thread_id, body as never, grant);
    await db.script(`update crons set next_run_date = now() - interval '1 day' where cron_id = '${cron_id}'`);
    return { cron_id, thread_id };
  };
  const change = (cron_id: string) =>
    crons.update(cron_id, versionOf('new') as never, AccessFilter.everything);
  const fire = () => storage.crons.fire(planTick);
  /** Input and metadata of the runs of a thread. */
  const runsOf = (thread_id: string) =>
    db.query<Version>(
      {
        name: 'versions_of_runs',
        text: `select kwargs::jsonb->'input' as input, jsonb_build_object('is', metadata->'is') as metadata
          from runs where thread_id = $1`,
      },
      [thread_id],
    );

  it('of a cron that is changed meanwhile creates a run of the old version', async () => {
    const { cron_id, thread_id } = await createDue();
    const both: Promise<unknown>[] = [];
    await db.transact(async (tx) => {
      await tx.script('lock table runs in access exclusive mode');
      both.push(fire());
      await untilOneWaits(db);
      both.push(change(cron_id));
      await eventually(async () => expect(await lockWaiters(db)).toHaveLength(2));
    });
    expect(await Promise.all(both)).toMatchObject([true, { cron_id, metadata: { is: 'new' } }]);
    expect(await runsOf(thread_id)).toEqual([versionOf('old')]);
  });

  it('waits for a change of its cron, and then creates a run of the new version', async () => {
    const { cron_id, thread_id } = await createDue();
    let changing: Promise<unknown> | undefined;
    await db.transact(async (tx) => {
      // The change has locked its row, and waits to write it.
      await tx.script('lock table crons in share mode');
      changing = change(cron_id);
      await untilOneWaits(db);
      expect(await fire()).toBe(false);
    });
    await changing;
    expect(await fire()).toBe(true);
    expect(await runsOf(thread_id)).toEqual([versionOf('new')]);
  });
});

describe('crons that are created at the same time', () => {
  const schedule = '0 3 * * *';
  const fill = (count: number, thread_id: string | null, assistant_id: string, metadata: object) =>
    db.script(`insert into crons (cron_id, assistant_id, thread_id, on_run_completed, schedule, payload, metadata)
      select gen_random_uuid(), '${assistant_id}', ${thread_id === null ? 'null' : `'${thread_id}'`}, 'delete', '${schedule}', '{}',
        '${JSON.stringify(metadata)}' from generate_series(1, ${count})`);
  const outcomesOf = async (parts: Parts, thread_id: string | null, identity: string) => {
    const user = { identity, is_authenticated: true, display_name: identity, permissions: [] };
    const { assistant_id } = parts;
    const body = { assistant_id, schedule, metadata: { svc_auth_user_id: identity } } as never;
    const create = () =>
      crons
        .create(thread_id, body, { cron_id: randomUUID(), assistant: everyRow, thread: everyRow, user })
        .then(
          () => 'created',
          (error: Error) => error.message,
        );
    return (await Promise.all([create(), create(), create()])).toSorted();
  };

  it('are no more than one user may have', async () => {
    const parts = await makeParts();
    await fill(999, null, parts.assistant_id, { svc_auth_user_id: 'ann' });
    const refused = 'Your user has 1000 crons, which is the limit. Delete some first';
    expect(await outcomesOf(parts, null, 'ann')).toEqual([refused, refused, 'created']);
    expect(await outcomesOf(parts, null, 'ben')).toEqual(['created', 'created', 'created']);
  });

  it('are no more than one thread may have', async () => {
    const parts = await makeParts();
    await fill(99, parts.thread_id, parts.assistant_id, {});
    const refused = 'The thread has 100 crons, which is the limit. Delete some first';
    expect(await outcomesOf(parts, parts.thread_id, 'cleo')).toEqual([refused, refused, 'created']);
  });

  it('are no more than one server may have', async () => {
    const parts = await makeParts();
    const [all] = await db.query<{ count: number }>(
      { name: 'all', text: 'select count(*)::int as count from crons' },
      [],
    );
    await fill(9_999 - (all?.count ?? 0), null, parts.assistant_id, {});
    const refused = 'The server has 10000 crons, which is the limit. Delete some first';
    expect(await outcomesOf(parts, null, 'dan')).toEqual([refused, refused, 'created']);
  });
});
