// Crons through the stock client and @svc/sdk, and how they fire exactly once.
import { randomUUID } from 'node:crypto';
import { Client as Stock } from '@langchain/langgraph-sdk';
import { createClient, type Client } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { testDatabase } from '../database.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { fixture } from '../fixture.ts';

const database = fixture(() => testDatabase());
let servers: TestServer[];
let client: Client;
let stock: Stock;
beforeAll(async () => {
  // Each fires crons; the first also executes their runs.
  servers = await Promise.all([
    startTestServer({ database }),
    startTestServer({ database, executors: 'none' }),
    startTestServer({ database, executors: 'none' }),
  ]);
  client = createClient({ apiUrl: servers[0]?.url ?? '' });
  stock = new Stock({ apiUrl: servers[0]?.url ?? '' });
});
afterAll(async () => {
  for (const server of servers) await server[Symbol.asyncDispose]();
});

const input = { messages: [{ role: 'user', content: 'tick' }] };
const nightly = { schedule: '0 3 * * *', input };
const makeDue = (where = 'true') =>
  database.script(`update crons set next_run_date = now() - interval '3 days' where ${where}`);
const rows = <Row>(text: string): Promise<Row[]> =>
  database.query<Row>({ name: `t_${randomUUID()}`, text }, []);
const ticksOf = (cron_id: string) =>
  rows<{ run_id: string | null }>(`select run_id from cron_ticks where cron_id = '${cron_id}'`);

describe('a cron', () => {
  it('is created, read, searched, updated and deleted by the stock client', async () => {
    const thread = await stock.threads.create();
    const made = (await stock.crons.createForThread(thread.thread_id, 'chat', {
      schedule: '0 9 * * 1',
      timezone: 'Europe/Berlin',
      input,
      metadata: { team: 'a' },
    })) as unknown as { cron_id: string };
    const [found] = await stock.crons.search({ threadId: thread.thread_id });
    expect(found).toMatchObject({
      cron_id: made.cron_id,
      schedule: '0 9 * * 1',
      timezone: 'Europe/Berlin',
      enabled: true,
      payload: { input },
      metadata: { team: 'a' },
      next_run_date: expect.any(String) as string,
    });
    expect(await stock.crons.count({ metadata: { team: 'a' } })).toBe(1);
    const changed = (await stock.crons.update(made.cron_id, {
      enabled: false,
      metadata: { tier: 1 },
    })) as unknown;
    expect(changed).toMatchObject({ enabled: false, metadata: { team: 'a', tier: 1 }, payload: { input } });
    await stock.crons.delete(made.cron_id);
    await expect(client.crons.get(made.cron_id)).rejects.toMatchObject({ status: 404 });
  });

  it('without a thread is created by the stock client too', async () => {
    const made = (await stock.crons.create('chat', { ...nightly, onRunCompleted: 'keep' })) as unknown;
    expect(made).toMatchObject({ thread_id: null, on_run_completed: 'keep', timezone: null });
    await stock.crons.delete((made as { cron_id: string }).cron_id);
  });

  it('with invalid fields is rejected', async () => {
    const bad: [object, number][] = [
      [{ schedule: '0 0 30 2 *' }, 422],
      [{ schedule: '* * * * * *' }, 422],
      [{ schedule: '0 * * * *', timezone: 'Nowhere/Else' }, 422],
      [{ schedule: '0 * * * *', end_time: '2020-01-01T00:00:00Z' }, 422],
      [{ schedule: '0 * * * *', end_time: 'tomorrow' }, 422],
      [{ schedule: '0 * * * *', stream_mode: 'nothing' }, 422],
      [{ schedule: '0 * * * *', assistant_id: 'unknown' }, 404],
    ];
    for (const [body, status] of bad) {
      const answer = await servers[0]?.call('POST', '/runs/crons', { assistant_id: 'chat', ...body });
      expect(answer?.status, JSON.stringify(body)).toBe(status);
    }
    const nowhere = `/threads/${randomUUID()}/runs/crons`;
    expect((await servers[0]?.call('POST', nowhere, { assistant_id: 'chat', ...nightly }))?.status).toBe(404);
  });
});

describe('a tick', () => {
  it("creates a run on the thread of its cron, with the cron's id in its metadata", async () => {
    const { thread_id } = await client.threads.create();
    const { cron_id } = await client.crons.create(thread_id, 'chat', { ...nightly, metadata: { team: 'b' } });
    await makeDue(`cron_id = '${cron_id}'`);
    await eventually(async () =>
      expect(await client.runs.list(thread_id)).toMatchObject([{ status: 'success' }]),
    );
    expect(await client.runs.list(thread_id)).toMatchObject([{ metadata: { cron_id, team: 'b' } }]);
    expect(await client.threads.get(thread_id)).toMatchObject({
      metadata: { cron_id },
      values: { messages: [{}, { content: 'echo tick' }] },
    });
    const cron = await client.crons.get(cron_id);
    expect(Date.parse(cron.next_run_date ?? '')).toBeGreaterThan(Date.now());
    expect(await ticksOf(cron_id)).toHaveLength(1);
  });

  it('without a thread creates a thread, which is kept or deleted as configured', async () => {
    const kept = await client.crons.create(null, 'chat', { ...nightly, on_run_completed: 'keep' });
    const deleted = await client.crons.create(null, 'chat', nightly);
    await makeDue(`cron_id in ('${kept.cron_id}', '${deleted.cron_id}')`);
    await eventually(async () => {
      expect(await client.threads.search({ metadata: { cron_id: kept.cron_id } })).toMatchObject([
        { status: 'idle' },
      ]);
      expect(await ticksOf(deleted.cron_id)).toHaveLength(1);
      expect(await rows(`select 1 from runs where metadata @> '{"cron_id": "${deleted.cron_id}"}'`)).toEqual(
        [],
      );
    });
    expect(await client.threads.search({ metadata: { cron_id: deleted.cron_id } })).toEqual([]);
  });

  it('is fired once by three nodes, for each of twenty crons', async () => {
    const crons = await Promise.all(
      Array.from({ length: 20 }, () => client.crons.create(null, 'chat', nightly)),
    );
    await makeDue();
    for (const { cron_id } of crons) {
      await eventually(async () => expect(await ticksOf(cron_id)).toHaveLength(1));
    }
    const again = await rows<{ count: number }>(
      `select count(*)::integer as count from cron_ticks t join crons c using (cron_id) where c.next_run_date < now()`,
    );
    expect(again).toEqual([{ count: 0 }]);
  });

  it('does not happen for a disabled cron, an ended cron, or a cron without an assistant', async () => {
    const off = await client.crons.create(null, 'chat', { ...nightly, enabled: false });
    const { assistant_id } = await client.assistants.create({ graph_id: 'chat' });
    const orphan = await client.crons.create(null, assistant_id, nightly);
    await client.assistants.delete(assistant_id);
    await expect(client.crons.get(orphan.cron_id)).rejects.toMatchObject({ status: 404 });
    const ending = await client.crons.create(null, 'chat', nightly);
    await database.script(`update crons set end_time = now() where cron_id = '${ending.cron_id}'`);
    await makeDue(`cron_id in ('${off.cron_id}', '${ending.cron_id}')`);
    await eventually(async () => expect((await client.crons.get(ending.cron_id)).next_run_date).toBeNull());
    expect(await ticksOf(ending.cron_id)).toHaveLength(1);
    expect(await ticksOf(off.cron_id)).toEqual([]);
  });

  it('waits while the database rejects it, and fires when there is room', async () => {
    // A sequence also counts rolled back transactions.
    await database.script(`
      create sequence refusals;
      create function refuse_runs() returns trigger language plpgsql as $$
      begin
        perform nextval('refusals');
        raise exception 'could not extend file' using errcode = '53100';
      end $$;
      create trigger refuse_runs before insert on runs for each row execute function refuse_runs()`);
    const refusals = async () =>
      (await rows<{ n: number }>('select last_value as n from refusals'))[0]?.n ?? 0;
    const cron = await client.crons.create(null, 'chat', nightly);
    const refused = await fetch(`${servers[0]?.url}/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ assistant_id: 'chat', input }),
    });
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ message: 'The disk of the database is full' });
    const before = await refusals();
    await makeDue(`cron_id = '${cron.cron_id}'`);
    await eventually(async () => expect(await refusals()).toBeGreaterThan(before + 2));
    expect(await client.crons.get(cron.cron_id)).toMatchObject({ enabled: true });
    await database.script(
      'drop trigger refuse_runs on runs; drop function refuse_runs(); drop sequence refusals',
    );
    await eventually(async () => expect(await ticksOf(cron.cron_id)).toHaveLength(1));
    expect(await client.crons.get(cron.cron_id)).toMatchObject({ enabled: true });
    await client.crons.delete(cron.cron_id);
  });

  it('that cannot create a run disables its cron and records why; others fire', async () => {
    const bad = await client.crons.create(null, 'chat', nightly);
    const good = await client.crons.create(null, 'chat', nightly);
    await database.script(
      `update crons set payload = '{"stream_mode": "nothing"}' where cron_id = '${bad.cron_id}'`,
    );
    await makeDue(`cron_id in ('${bad.cron_id}', '${good.cron_id}')`);
    await eventually(async () => expect(await ticksOf(good.cron_id)).toHaveLength(1));
    await eventually(async () =>
      expect(await client.crons.get(bad.cron_id)).toMatchObject({
        enabled: false,
        last_error: expect.any(String) as string,
      }),
    );
  });
});
