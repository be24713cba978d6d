// The server in the route handlers of a Next application: examples/embed-next, called as Next does.
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agents } from '../../../../examples/embed-next/agents.ts';
import { DELETE, GET, POST } from '../../../../examples/embed-next/app/api/agents/[...path]/route.ts';
import { sessionCookie } from '../../../../examples/embed-next/session.ts';
import { testDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { openDataFolder } from './open-handler.ts';
import { fixture } from '../fixture.ts';

const database = fixture(() => testDatabase());
const folder = fixture(() => openDataFolder());
const variables: Record<string, string> = {};
beforeAll(async () => {
  Object.assign(variables, {
    AGENTS_FOLDER: fileURLToPath(new URL('../../../../examples/embed-next', import.meta.url)),
    SVC_DATABASE_URI: database.uri,
    SVC_DATA_DIR: folder.dataDir,
    SVC_EXECUTORS: '1',
    SVC_LOG_LEVEL: 'silent',
    SVC_BODY_LIMIT: '200kb',
  });
  Object.assign(process.env, variables);
});
afterAll(async () => {
  await (await agents()).close();
  for (const name of Object.keys(variables)) delete process.env[name];
});

interface Options {
  user?: string;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

const request = (
  method: string,
  path: string,
  { user = 'ann', body, headers, signal }: Options = {},
): Request =>
  new Request(`https://app.example/api/agents${path}`, {
    method,
    headers: {
      ...(user === '' ? {} : { cookie: sessionCookie(user) }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      origin: 'https://app.example',
      host: 'app.example',
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  });

const json = async (response: Response): Promise<Record<string, unknown>> =>
  (await response.json()) as Record<string, unknown>;

const newThread = async (): Promise<string> =>
  (await json(await POST(request('POST', '/threads', { body: {} }))))['thread_id'] as string;

const startStream = (thread_id: string, more: object, options: Options = {}): Promise<Response> =>
  POST(
    request('POST', `/threads/${thread_id}/runs/stream`, {
      ...options,
      body: {
        assistant_id: 'slow',
        stream_mode: 'values',
        on_disconnect: 'cancel',
        config: { recursion_limit: 5000 },
        ...more,
      },
    }),
  );

const statusOfRun = async (thread_id: string): Promise<unknown> => {
  const runs = await (await GET(request('GET', `/threads/${thread_id}/runs`))).json();
  return (runs as { status: string }[])[0]?.status;
};

describe('examples/embed-next', () => {
  it('serves agents to the users of sessions', async () => {
    const thread_id = await newThread();
    expect((await json(await GET(request('GET', `/threads/${thread_id}`))))['metadata']).toMatchObject({
      svc_auth_user_id: 'ann',
    });
    for (const options of [{ user: '' }, { user: '', headers: { cookie: `session=ann.${'0'.repeat(64)}` } }])
      expect((await GET(request('GET', `/threads/${thread_id}`, options))).status).toBe(401);
    expect((await DELETE(request('DELETE', `/threads/${thread_id}`))).status).toBe(204);
  });

  it('refuses requests of pages of other origins, which have the cookie too', async () => {
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    expect((await POST(request('POST', '/threads', { body: {}, headers: foreign }))).status).toBe(403);
  });

  it('streams events while the run continues', async () => {
    const thread_id = await newThread();
    const response = await startStream(thread_id, { input: { steps: 1000 } });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(response.headers.get('location')).toMatch(/^\/threads\//);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('"done":2')) text += (await reader?.read())?.value ?? '';
    expect(await statusOfRun(thread_id)).toBe('running');
    await reader?.cancel();
  });

  it.each(['cancels the body', 'aborts the request'])(
    'cancels the run when Next %s, because the client has disconnected',
    async (how) => {
      const thread_id = await newThread();
      const aborter = new AbortController();
      const more = { input: { steps: 1000 } };
      const response = await startStream(thread_id, more, { signal: aborter.signal });
      await eventually(async () => expect(await statusOfRun(thread_id)).toBe('running'));
      if (how === 'aborts the request') aborter.abort();
      else await response.body?.cancel();
      await eventually(async () => expect(await statusOfRun(thread_id)).toBe('interrupted'));
    },
  );

  it('sends the head of a waiting request early, and the result later', async () => {
    const response = await POST(
      request('POST', '/runs/wait', { body: { assistant_id: 'slow', input: { steps: 15 } } }),
    );
    const text = await response.text();
    expect(text).toMatch(/^\n+\{/);
    expect(JSON.parse(text)).toMatchObject({ done: 15 });
  });

  it('limits bodies', async () => {
    const large = { metadata: { large: 'x'.repeat(300_000) } };
    expect((await POST(request('POST', '/threads', { body: large }))).status).toBe(413);
  });
});
