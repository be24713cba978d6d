// Stock clients of a Fastify and of a Nest application that contain the server.
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SvcHandler } from '../../server/src/index.ts';
import { chatInput } from '../../server/test/chat-input.ts';
import { testDatabase, type TestDatabase } from '../../server/test/database.ts';
import { openDataFolder, openHandler } from '../../server/test/embed/open-handler.ts';
import { isRunEnd } from '../../server/test/thread-protocol/feed.ts';
import { openSocket, refusal } from '../../server/test/thread-protocol/socket.ts';
import { bearer, tokens } from '../deployment.ts';
import { startFastify, startNest, type Program } from './programs.ts';

const config = fileURLToPath(new URL('../project/svc.json', import.meta.url));

let database: TestDatabase;
let folder: AsyncDisposable & { dataDir: string };
let svc: SvcHandler;
beforeAll(async () => {
  database = await testDatabase();
  folder = await openDataFolder();
  svc = await openHandler({ config, prefix: '/agents' }, { database, dataDir: folder.dataDir });
});
afterAll(async () => {
  await svc?.close();
  await folder?.[Symbol.asyncDispose]();
  await database?.[Symbol.asyncDispose]();
});

describe.each([
  ['Fastify', startFastify],
  ['Nest', startNest],
])('an application of %s', (_, start) => {
  let program: Program;
  beforeAll(async () => {
    program = await start(svc);
  });
  afterAll(() => program?.[Symbol.asyncDispose]());

  const clientOf = (token?: string): Client =>
    new Client({
      apiUrl: `${program.url}/agents`,
      defaultHeaders: token === undefined ? {} : bearer(token),
      callerOptions: { maxRetries: 0 },
    });

  it('streams a run, and shows its thread to its user only', async () => {
    const client = clientOf(tokens.ann);
    const { thread_id } = await client.threads.create();
    const streamed: unknown[] = [];
    const run = { input: chatInput('hello'), streamMode: 'messages-tuple' as const };
    for await (const { event, data } of client.runs.stream(thread_id, 'agent', run))
      if (event === 'messages') streamed.push(data[0].content);
    expect(streamed.join('')).toBe('You said: hello');
    await expect(clientOf(tokens.ben).threads.get(thread_id)).rejects.toMatchObject({ status: 404 });
    await expect(clientOf().threads.get(thread_id)).rejects.toMatchObject({ status: 401 });
  });

  it('has WebSockets for its users', async () => {
    const socket = await openSocket(`${program.url}/agents`, randomUUID(), { headers: bearer() });
    await socket.command('subscription.subscribe', { channels: ['values', 'lifecycle'] });
    await socket.command('run.start', { assistant_id: 'agent', input: chatInput('hello') });
    const values = (await socket.until(isRunEnd)).findLast(({ method }) => method === 'values');
    expect(JSON.stringify(values)).toContain('You said: hello');
    socket.ws.close();
    expect(await refusal(openSocket(`${program.url}/agents`, randomUUID()))).toMatchObject({ status: 401 });
  });

  it('keeps its own routes, and the parser of their bodies', async () => {
    const response = await fetch(`${program.url}/echo`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"said":"hello"}',
    });
    expect(await response.json()).toEqual({ said: 'hello' });
  });
});
