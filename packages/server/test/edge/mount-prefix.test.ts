// http.mount_prefix and SVC_MOUNT_PREFIX: a path before all routes.
import { Client as StockClient } from '@langchain/langgraph-sdk';
import { createClient } from '@svc/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { startTestServer } from '../server.ts';
import { projectWith } from './wire.ts';
import { fixture } from '../fixture.ts';

const project = fixture(() => projectWith({ http: { mount_prefix: '/team/agents' } }));
const server = fixture(() => startTestServer({ project: project.file }));
let root: string;
beforeAll(async () => {
  root = new URL('/', server.url).href.slice(0, -1);
});

const input = { messages: [{ role: 'user', content: 'hello' }] };
const statusOf = async (path: string) => (await fetch(root + path)).status;

describe('a path before all routes', () => {
  it('is part of the address of the server', () => {
    expect(server.url).toBe(`${root}/team/agents`);
  });

  it('is required, but for probes and scrapers', async () => {
    // Until its executors have started, the server is not ready.
    expect(await statusOf('/ready')).not.toBe(404);
    for (const path of [
      '/ok',
      '/metrics',
      '/team/agents/ok',
      '/team/agents/info',
      '/team/agents',
      '/team/agents/',
    ])
      expect([path, await statusOf(path)]).toEqual([path, 200]);
    for (const path of ['/info', '/', '/docs', '/team/agents2/info', '/team', '/Team/agents/info'])
      expect([path, await statusOf(path)]).toEqual([path, 404]);
  });

  it('works with clients that have it in their address', async () => {
    const client = createClient({ apiUrl: server.url });
    const { thread_id } = await client.threads.create();
    expect(await client.runs.wait(thread_id, 'chat', { input })).toHaveProperty('messages');
    const stock = new StockClient({ apiUrl: server.url });
    const events: string[] = [];
    for await (const { event } of stock.runs.stream(thread_id, 'chat', { input, streamResumable: true }))
      events.push(event);
    expect(events).toContain('values');
  });

  it('is in the API reference', async () => {
    const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
      servers: { url: string }[];
    };
    expect(document.servers[0]?.url).toBe(server.url);
    const start = await (await fetch(server.url, { headers: { accept: 'text/html' } })).text();
    expect(start).toContain('href="/team/agents/docs"');
  });
});

describe('the variable', () => {
  it('has priority over the file', async () => {
    await using other = await startTestServer({
      executors: 'none',
      project: project.file,
      settings: { mountPrefix: '/x' },
    });
    expect(new URL(other.url).pathname).toBe('/x');
  });
});
