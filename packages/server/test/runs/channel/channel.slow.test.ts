// The channel between the server and its executors is private: code of a graph cannot find or use it.
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createClient, type Client } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSvc, type SvcProcess } from '../../durability/svc-process.ts';
import { eventually } from '../../eventually.ts';
import { startTestServer } from '../../server.ts';
import { scaled } from '../../speed.ts';
import { fixture } from '../../fixture.ts';
import { sharedFolder } from '../../folders.ts';

const project = fileURLToPath(new URL('./svc.json', import.meta.url));

describe('a graph', () => {
  const server = fixture(() => startTestServer({ project }));
  let client: Client;
  beforeAll(async () => {
    client = createClient({ apiUrl: server.url });
  });

  const act = async (action: string): Promise<unknown> =>
    ((await client.runs.wait(null, 'intruder', { input: { do: action } })) as { out: unknown }).out;

  it('finds no IPC channel in its process', async () => {
    expect(await act('facts')).toEqual({
      send: 'undefined',
      disconnect: 'undefined',
      channel: 'undefined',
      connected: false,
      variable: null,
    });
  });

  it('that reports to a parent process, as libraries do, reaches no receiver', async () => {
    expect(await act('report')).toBe('reported');
    expect(await act('report')).toBe('reported');
  });

  it("that listens for messages of a parent process gets none of svc's messages", async () => {
    expect(await act('listen')).toBe('listening');
    expect(await act('facts')).toMatchObject({ connected: false });
    expect(await act('received')).toEqual([]);
  });

  it('that disconnects from its parent process keeps its executor', async () => {
    expect(await act('disconnect')).toBe('disconnected');
    expect(await act('received')).toEqual([]);
  });

  it('exchanges messages with a process that it forks itself', async () => {
    expect(await act('fork')).toEqual({ heard: { question: 'which?' } });
  });

  it('starts processes that do not inherit the channel', async () => {
    expect(await act('inherit')).toMatchObject({ isSocket: true, inherited: false });
  });

  it('that writes valid frames with unknown messages to the channel has no effect on the server', async () => {
    expect(await act('forge')).toBe('forged');
    expect(await act('facts')).toMatchObject({ connected: false });
  });

  it('that writes garbage to the channel ends its executor, and its run after three attempts', async () => {
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, 'intruder', { input: { do: 'garble' } });
    await eventually(
      async () =>
        expect(await client.runs.get(thread_id, run_id)).toMatchObject({ status: 'error', attempt: 3 }),
      60_000,
    );
    const { error } = (await client.runs.get(thread_id, run_id)) as { error?: { message: string } };
    expect(error?.message).toMatch(/wrote to the server's channel/);
    expect(await act('facts')).toMatchObject({ connected: false });
  });
});

describe('a run that kills the server', () => {
  const dataDir = sharedFolder();
  let svc: SvcProcess | undefined;
  afterAll(async () => {
    await svc?.killAll();
  });

  it(
    'is charged each time and ends after its attempts',
    async () => {
      svc = await startSvc(dataDir, project);
      let client = createClient({ apiUrl: svc.url });
      const { thread_id } = await client.threads.create();
      const { run_id } = await client.runs.create(thread_id, 'intruder', { input: { do: 'killParent' } });
      for (let attempt = 1; attempt <= 3; attempt++) {
        if (svc.child.exitCode === null && svc.child.signalCode === null) await once(svc.child, 'exit');
        expect(svc.child.signalCode).toBe('SIGKILL');
        svc = await startSvc(dataDir, project);
      }
      client = createClient({ apiUrl: svc.url });
      await eventually(async () =>
        expect(await client.runs.get(thread_id, run_id)).toMatchObject({
          status: 'error',
          attempt: 3,
          error: { error: 'AttemptsExhausted' },
        }),
      );
    },
    scaled(180_000),
  );
});
