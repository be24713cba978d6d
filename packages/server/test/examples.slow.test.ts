// Examples that need more than two seconds of CPU.
import { fileURLToPath } from 'node:url';
import { Client } from '@langchain/langgraph-sdk';
import { describe, expect, it } from 'vitest';
import { eventually } from './eventually.ts';
import { startTestServer } from './server.ts';

describe('examples/custom-routes', () => {
  it('greets by a run, and lists the runs whose webhooks it got', async () => {
    await using server = await startTestServer({
      project: fileURLToPath(new URL('../../../examples/custom-routes/svc.json', import.meta.url)),
    });
    expect(await server.call('GET', '/greet/Ann')).toMatchObject({ body: { greeting: 'Hello, Ann!' } });
    const client = new Client({ apiUrl: server.url });
    await client.runs.wait(null, 'greeter', { input: { name: 'Bob' }, webhook: '/hooks/run' });
    await eventually(async () =>
      expect((await server.call('GET', '/ended-runs')).body).toMatchObject([{ status: 'success' }]),
    );
    expect((await server.call('GET', '/info')).headers.get('server-timing')).toMatch(/^app;dur=\d+$/);
  });
});
