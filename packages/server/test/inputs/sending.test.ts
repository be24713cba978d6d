// Who may send what into which run, and how often.
import { Client as StockClient } from '@langchain/langgraph-sdk';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { fixture } from '../fixture.ts';
import { lockWaiters } from '../lock-waiters.ts';
import { startTestServer } from '../server.ts';
import { human, Steps } from './steps.ts';

const project = fileURLToPath(new URL('javascript/svc.json', import.meta.url));

describe('an input', () => {
  const server = fixture(() => startTestServer({ project, executors: 'ready' }));

  it('for a run that the thread does not have is refused with 404', async () => {
    const [own, foreign] = [new Steps(server), new Steps(server)];
    const run = await own.start(['step']);
    const other = await foreign.start(['step']);
    for (const run_id of [other.run_id, randomUUID()])
      expect(await own.send(run_id, human('x'))).toMatchObject({ status: 404 });
    for (const steps of [own, foreign]) await steps.open('0');
    await own.ended(run.run_id);
    await foreign.ended(other.run_id);
  });

  it('that is no update of channels is refused with 422, and one that is too large with 413', async () => {
    const steps = new Steps(server);
    const { run_id } = await steps.start(['step']);
    for (const input of [undefined, null, [], 'x', {}, { __pregel_tasks: [] }, { 'branch:to:step': 1 }])
      expect(await steps.send(run_id, input)).toMatchObject({ status: 422 });
    expect(await steps.send(run_id, human('x'.repeat(1_100_000)))).toMatchObject({ status: 413 });
    await steps.open('0');
    expect(await steps.ended(run_id)).toMatchObject({ status: 'success' });
    expect(await steps.texts()).toEqual(['hi']);
  });

  it('with an Idempotency-Key is sent once, also when the run has taken it or has ended', async () => {
    const steps = new Steps(server);
    const { run_id } = await steps.start(['step', 'step']);
    await steps.untilBegun('0');
    const headers = { 'idempotency-key': 'once' };
    const send = async (): Promise<unknown> => (await steps.send(run_id, human('x'), headers)).body;
    const first = await send();
    expect(await send()).toMatchObject({ run_id: (first as { run_id: string }).run_id });
    await steps.open('0');
    await steps.untilBegun('1');
    expect(await send()).toMatchObject({ run_id: (first as { run_id: string }).run_id });
    await steps.open('1');
    await steps.ended(run_id);
    expect(await send()).toMatchObject({ run_id: (first as { run_id: string }).run_id });
    expect(await steps.texts()).toEqual(['hi', 'x']);
    expect(await steps.client.runs.list(steps.thread_id)).toHaveLength(2);
  });

  it('is cancelled as any pending run, and is not taken then', async () => {
    const steps = new Steps(server);
    const { run_id } = await steps.start(['step', 'step']);
    await steps.untilBegun('0');
    const input = await steps.sent(run_id, human('x'));
    await steps.client.runs.cancel(steps.thread_id, input.run_id);
    await steps.open('0', '1');
    await steps.ended(run_id);
    expect(await steps.texts()).toEqual(['hi']);
    expect((await steps.run(input.run_id)).cancel_reason).toBe('cancelled by request');
  });

  it('by the stock client goes into the run, or starts one on a thread without runs', async () => {
    const steps = new Steps(server);
    const client = new StockClient({ apiUrl: server.url });
    const thread = client.threads.stream(steps.thread_id, { assistantId: 'steps' });
    await thread.run.start({ input: { plan: ['step', 'step'], at: 0, ...human('hi') } });
    await steps.untilBegun('0');
    await thread.input.inject({ namespace: [], message: { role: 'user', content: 'and this' } });
    await steps.open('0', '1');
    const values = (await thread.output) as { seen: string[] };
    expect(values.seen).toEqual(['0 hi', '1 hi,and this']);
    await thread.close();

    const created = await client.threads.create({ graphId: 'steps' });
    const other = client.threads.stream(created.thread_id, { assistantId: 'steps' });
    await other.input.inject({ namespace: [], message: { role: 'user', content: 'begin' } });
    await eventually(async () => {
      const { values: state } = await client.threads.getState<{ messages?: { content: string }[] }>(
        created.thread_id,
      );
      expect(state.messages?.map(({ content }) => content)).toEqual(['begin']);
    });
    await other.close();
  });
});

it('an input that another server gets is taken by the server that executes the run', async () => {
  await using server = await startTestServer({ project, executors: 'ready' });
  await using other = await startTestServer({ project, database: server.database, executors: 'none' });
  const steps = new Steps(server);
  const { run_id } = await steps.start(['step', 'step']);
  await steps.untilBegun('0');
  const path = `/threads/${steps.thread_id}/runs/${run_id}/input`;
  expect(await other.call('POST', path, { input: human('from afar') })).toMatchObject({ status: 200 });
  await steps.open('0', '1');
  await steps.ended(run_id);
  expect((await steps.values()).seen).toEqual(['0 hi', '1 hi,from afar']);
});

// Both need the lock of the thread, which the test holds.
it.each(['the run ends first', 'the input comes first'])(
  'an input at the moment in which its run ends becomes a run: %s',
  async (order) => {
    await using server = await startTestServer({ project, executors: 'ready' });
    const steps = new Steps(server);
    const { run_id } = await steps.start(['step']);
    await steps.untilBegun('0');
    const waiters = async (count: number): Promise<void> =>
      eventually(async () => expect(await lockWaiters(server.database)).toHaveLength(count));
    const sent = await server.database.transact(async (tx) => {
      await tx.query(lockThread, [steps.thread_id]);
      const send = () => steps.sent(run_id, { ...human('late'), at: 0 });
      const early = order === 'the input comes first' ? send() : undefined;
      if (early) await waiters(1);
      await steps.open('0');
      await waiters(early ? 2 : 1);
      const late = early ?? send();
      await waiters(2);
      return { run: late };
    });
    const input = await sent.run;
    expect(await steps.ended(run_id)).toMatchObject({ status: 'success' });
    expect(await steps.ended(input.run_id)).toMatchObject({ status: 'success' });
    expect((await steps.values()).seen).toEqual(['0 hi', '0 hi,late']);
  },
);

const lockThread = { name: 'lock_thread', text: 'select 1 from threads where thread_id = $1 for update' };
