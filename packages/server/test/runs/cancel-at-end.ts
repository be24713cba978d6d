// Runs that are cancelled at the moment they end.
import { createClient } from '@svc/sdk';
import { expect } from 'vitest';
import type { TestServer } from '../server.ts';

/** Each round expects that the run has either ended or been cancelled, and that its thread is free. */
export const cancelAtTheEnd = async (server: TestServer, rounds: number): Promise<void> => {
  const client = createClient({ apiUrl: server.url });
  for (let round = 0; round < rounds; round++) {
    const { thread_id } = await client.threads.create();
    const input = { do: 'sleep', ms: round % 10 };
    const { run_id } = await client.runs.create(thread_id, 'probe', { input });
    const action = round % 2 ? 'rollback' : 'interrupt';
    const path = `/threads/${thread_id}/runs/${run_id}/cancel?wait=1&action=${action}`;
    const { status } = await server.call('POST', path);
    const rows = await client.runs.list(thread_id);
    if (status === 404) expect(rows).toMatchObject([{ status: 'success' }]);
    else if (action === 'rollback') expect(rows).toEqual([]);
    else expect(['interrupted', 'success']).toContain(rows[0]?.status);
    expect((await client.threads.get(thread_id)).status).not.toBe('busy');
  }
};
