// A thread stays readable whatever a graph returns: a value that cannot be encoded ends the run before it is stored.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../server.ts';
import { fixture } from '../fixture.ts';

const server = fixture(() => startTestServer());

type Answer = Awaited<ReturnType<TestServer['call']>>;
interface State {
  values: { out?: unknown };
}

const ok = async (answer: Promise<Answer>): Promise<unknown> => {
  const { status, body } = await answer;
  expect(status, JSON.stringify(body)?.slice(0, 500)).toBe(200);
  return body;
};

const runOn = async (
  thread_id: string,
  input: object,
  more: object = {},
): Promise<Record<string, unknown>> => {
  const body = { assistant_id: 'odd', input, ...more };
  const created = (await ok(server.call('POST', `/threads/${thread_id}/runs`, body))) as { run_id: string };
  const path = `/threads/${thread_id}/runs/${created.run_id}`;
  await ok(server.call('GET', `${path}/join`));
  return (await ok(server.call('GET', path))) as Record<string, unknown>;
};

const newThread = async (): Promise<string> =>
  ((await ok(server.call('POST', '/threads', {}))) as { thread_id: string }).thread_id;

/** Reads the thread through every endpoint that returns a state. Returns the state. */
const readAll = async (thread_id: string): Promise<State> => {
  const state = (await ok(server.call('GET', `/threads/${thread_id}/state`))) as State;
  const thread = (await ok(server.call('GET', `/threads/${thread_id}`))) as State;
  expect(thread.values).toEqual(state.values);
  const history = (await ok(server.call('GET', `/threads/${thread_id}/history?limit=100`))) as State[];
  expect(history[0]?.values).toEqual(state.values);
  const copy = (await ok(server.call('POST', `/threads/${thread_id}/copy`))) as State;
  expect(copy.values).toEqual(state.values);
  const search = { ids: [thread_id], select: ['values', 'interrupts', 'error'] };
  const [found] = (await ok(server.call('POST', '/threads/search', search))) as State[];
  expect(found?.values).toEqual(state.values);
  const byValues = { ids: [thread_id], values: { how: 'nothing like it' } };
  expect(await ok(server.call('POST', '/threads/count', byValues))).toBe(0);
  return state;
};

describe('a value that a graph returns', () => {
  it('is readable, or ends its run and leaves the state unchanged, whatever its type and destination', async () => {
    const statuses = new Set<unknown>();
    await fc.assert(
      fc.asyncProperty(
        fc.integer(),
        fc.constantFrom('return', 'interrupt', 'write', 'throw'),
        fc.constantFrom('async', 'sync', 'exit'),
        fc.constantFrom([['values', 'updates', 'custom', 'tasks', 'debug']], [['values']], [['events']]),
        async (seed, how, durability, [stream_mode]) => {
          const thread_id = await newThread();
          await runOn(thread_id, { how: 'keep' });
          const run = await runOn(thread_id, { how, seed }, { durability, stream_mode });
          statuses.add(run['status']);
          expect(['success', 'error', 'interrupted']).toContain(run['status']);
          const { values } = await readAll(thread_id);
          if (run['status'] === 'error') expect(values.out).toBe('before');
        },
      ),
      { numRuns: 40 },
    );
    expect([...statuses]).toContain('error');
    expect(statuses.size).toBeGreaterThan(1);
  });

  it('is kept as it was for the graph when it is a BigInt, and its JSON has the digits', async () => {
    const thread = (await ok(server.call('POST', '/threads', {}))) as { thread_id: string };
    const body = { assistant_id: 'probe', input: { do: 'bigint' } };
    const values = await ok(server.call('POST', `/threads/${thread.thread_id}/runs/wait`, body));
    expect(values).toMatchObject({ out: '10' });
    expect((await readAll(thread.thread_id)).values.out).toBe('10');
  });
});

describe('the message of an error', () => {
  it('of megabytes is stored as its beginning and end, with its length', async () => {
    const thread_id = await newThread();
    await runOn(thread_id, { how: 'keep' });
    const run = await runOn(thread_id, { how: 'scream', seed: 5_000_000 }, { stream_resumable: true });
    const { message } = run['error'] as { message: string };
    expect(message.length).toBeLessThan(10_000);
    expect(message).toMatch(/^begin a+\[… \d+ of 5000010 characters left out …\]a+ end$/);
    for (const path of ['', '/state', '/history', '/runs']) {
      const response = await fetch(`${server.url}/threads/${thread_id}${path}`);
      expect((await response.text()).length).toBeLessThan(60_000);
    }
    const stored = await server.database.query<{ bytes: number }>(
      {
        name: '',
        text: `select max(bytes)::integer as bytes from (
            select max(octet_length(payload)) as bytes from blobs
            union all select max(octet_length(error)) from runs
            union all select max(octet_length(error)) from threads
            union all select max(octet_length(events)) from run_events) b`,
      },
      [],
    );
    expect(stored[0]?.bytes).toBeLessThan(40_000);
  });
});
