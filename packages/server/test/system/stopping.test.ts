// What proxies learn from a server that stops while a run is in flight.
import { expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer } from '../server.ts';

it('/ok?check_stopping=true is 503 while the runs of a server end; /ok is 200', async () => {
  await using server = await startTestServer();
  const statusOf = async (path: string): Promise<number> => (await server.call('GET', path)).status;
  expect(await statusOf('/ok?check_stopping=true')).toBe(200);
  const { body } = await server.call('POST', '/threads', {});
  const { thread_id } = body as { thread_id: string };
  await server.call('POST', `/threads/${thread_id}/runs`, {
    assistant_id: 'probe',
    input: { do: 'sleep', ms: 60_000 },
  });
  await eventually(async () => {
    const { body: runs } = await server.call('GET', `/threads/${thread_id}/runs`);
    expect(runs).toMatchObject([{ status: 'running' }]);
  });
  const hurry = new AbortController();
  const drained = server.drain(hurry.signal);
  expect(await statusOf('/ok?check_stopping=true')).toBe(503);
  expect(await statusOf('/ok')).toBe(200);
  hurry.abort();
  await drained;
});
