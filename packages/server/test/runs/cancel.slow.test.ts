// Runs that are stopped by the end of their executor, and many cancels at the moment a run ends.
import { createClient, type Client } from '@svc/sdk';
import { describe, expect, it } from 'vitest';
import { startTestServer } from '../server.ts';
import { cancelAtTheEnd } from './cancel-at-end.ts';

const start = async (client: Client, action: string, ms = 60_000) => {
  const { thread_id } = await client.threads.create();
  return client.runs.create(thread_id, 'probe', { input: { do: action, ms } });
};

describe('a running run', () => {
  it('that ignores the signal is killed with its executor; other runs of the executor resume elsewhere, uncharged', async () => {
    await using server = await startTestServer({ settings: { cancelGraceMs: 300 } });
    const client = createClient({ apiUrl: server.url });
    const hanging = await start(client, 'hang');
    const other = await start(client, 'sleep', 1_500);
    await client.runs.cancel(hanging.thread_id, hanging.run_id, { wait: true });
    expect(await client.runs.get(hanging.thread_id, hanging.run_id)).toMatchObject({ status: 'interrupted' });
    expect(await client.runs.join(other.thread_id, other.run_id)).toMatchObject({ out: 'slept' });
    expect(await client.runs.get(other.thread_id, other.run_id)).toMatchObject({
      status: 'success',
      attempt: 1,
    });
  });

  it('that exceeds its time limit ends as a timeout, whether it handles the signal or not', async () => {
    await using server = await startTestServer({ settings: { cancelGraceMs: 300, runTimeout: '4s' } });
    const client = createClient({ apiUrl: server.url });
    for (const action of ['waitForAbort', 'hang']) {
      const { thread_id, run_id } = await start(client, action);
      expect(await server.call('GET', `/threads/${thread_id}/runs/${run_id}/join`)).toMatchObject({
        body: { __error__: { error: 'RunTimeout' } },
      });
      expect(await client.runs.get(thread_id, run_id)).toMatchObject({ status: 'timeout', attempt: 1 });
      expect((await client.threads.get(thread_id)).status).toBe('error');
    }
  });
});

it('cancelling at the moment a run ends yields either result, never a mixture, in a hundred rounds', async () => {
  await using server = await startTestServer();
  await cancelAtTheEnd(server, 100);
});
