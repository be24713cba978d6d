// The connection of a state update ends before the update is stored, and a run is created on its thread meanwhile.
import { createClient } from '@svc/sdk';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer, type TestServer } from '../server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ settings: { executors: '1' } });
});
afterAll(() => server[Symbol.asyncDispose]());

const waitingFor = (call: string): Promise<{ pid: number }[]> => {
  const text = `select pid from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%' || $1 || '%'`;
  return server.database.query<{ pid: number }>({ name: 'waiting_for', text }, [call]);
};

it('the update is rejected, and its repetition is counted', async () => {
  const client = createClient({ apiUrl: server.url });
  const { thread_id } = await client.threads.create();
  await client.runs.wait(thread_id, 'chat', { input: { messages: [{ role: 'user', content: 'x' }] } });
  const { update, run } = await server.database.transact(async (tx) => {
    await tx.query({ name: 'hold_thread', text: 'select 1 from threads where thread_id = $1 for update' }, [
      thread_id,
    ]);
    const sent = server.call('POST', `/threads/${thread_id}/state`, { values: { messages: [] } });
    const [flush] = await eventually(async () => {
      const waiting = await waitingFor('commit_batch');
      expect(waiting).toHaveLength(1);
      return waiting;
    });
    const created = server.call('POST', `/threads/${thread_id}/runs`, {
      assistant_id: 'probe',
      input: { do: 'hang' },
    });
    await eventually(async () => expect(await waitingFor('create_run')).toHaveLength(1));
    await server.database.query({ name: 'end', text: 'select pg_terminate_backend($1, 1000)' }, [flush!.pid]);
    return { update: sent, run: created };
  });
  const { status, body } = await update;
  const { body: queued } = await run;
  expect({ status, body }).toMatchObject({ status: 409, body: { code: 'conflict' } });
  expect(String((await server.call('GET', '/metrics')).body)).toMatch(
    /^svc_flush_troubles_total\{kind="repeated"\} [1-9]/m,
  );
  await server.call(
    'POST',
    `/threads/${thread_id}/runs/${(queued as { run_id: string }).run_id}/cancel?wait=true`,
  );
});
