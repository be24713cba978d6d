import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { collectGarbage } from '../../server/test/collect-garbage.ts';
import { serveHttp } from '../../server/test/serve-http.ts';
import { createClient } from './index.ts';

describe('a request without an answer', () => {
  it('fails after the timeout, even after a garbage collection', async () => {
    await using server = await serveHttp(createServer(() => undefined));
    const client = createClient({ apiUrl: server.url, timeoutMs: 300 });
    const signal = new AbortController().signal;
    const failed = client.runs.createBatch([], { signal }).catch((error: unknown) => error);
    for (let times = 0; times < 3; times++) {
      await sleep(20);
      collectGarbage();
    }
    await expect(failed).resolves.toMatchObject({ name: 'TimeoutError' });
  });
});
