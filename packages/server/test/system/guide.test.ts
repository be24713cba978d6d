// Which servers serve the guide, built or not: one that does answers 200 or 503.
import { describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../server.ts';

const look = async (server: TestServer) => {
  const { status } = await fetch(`${server.url}/docs/guide/`);
  const page = await (await fetch(`${server.url}/docs`)).text();
  const { body } = await server.call('GET', '/info');
  return {
    isServed: status !== 404,
    isLinked: page.includes('href="docs/guide/"'),
    isAnnounced: (body as { flags: { guide: boolean } }).flags.guide,
  };
};

describe('the guide', () => {
  it('is served where callers need a key too, as /docs', async () => {
    await using server = await startTestServer({ executors: 'none', settings: { apiKeys: 'k'.repeat(32) } });
    expect(await look(server)).toEqual({ isServed: true, isLinked: true, isAnnounced: true });
  });

  it.each([{ guide: 'off' }, { role: 'worker' }])('is not served with %o', async (settings) => {
    await using server = await startTestServer({ executors: 'none', settings });
    expect(await look(server)).toEqual({ isServed: false, isLinked: false, isAnnounced: false });
  });
});
