import { createClient } from '@svc/sdk';
import { expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer } from '../server.ts';

it('metrics have the version of the server and the durations of runs', async () => {
  await using server = await startTestServer();
  const client = createClient({ apiUrl: server.url });
  await client.runs.wait(null, 'chat', { input: { messages: [{ role: 'user', content: 'x' }] } });
  await eventually(async () => {
    const { body } = await server.call('GET', '/metrics');
    expect(body).toMatch(/^svc_build_info\{version="\d+\.\d+\.\d+",node="\d+\.\d+\.\d+"\} 1$/m);
    expect(body).toMatch(/^svc_run_seconds_count\{status="success"\} 1$/m);
  });
});
