// Two handlers on a database, each with an executor.
import { expect, it } from 'vitest';
import type { SvcHandler, SvcHandlerOptions } from '../../src/index.ts';
import { testDatabase } from '../database.ts';
import { projectWith } from '../edge/wire.ts';
import { openDataFolder, openHandler } from './open-handler.ts';

it('two handlers in a process share a database, one with workers and one without', async () => {
  await using database = await testDatabase();
  await using folder = await openDataFolder();
  await using project = await projectWith({});
  const open = (options: SvcHandlerOptions) => openHandler(options, { database, dataDir: folder.dataDir });
  await using api = await open({ config: project.file, allowAnonymous: true, workers: false });
  const call = async (handler: SvcHandler, method: string, path: string, body?: unknown) => {
    const response = await handler.fetch(
      new Request(`http://app.example${path}`, {
        method,
        ...(body === undefined
          ? {}
          : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      }),
    );
    return (await response.json()) as Record<string, unknown>;
  };
  const { thread_id } = await call(api, 'POST', '/threads', {});
  const input = { messages: [{ role: 'user', content: 'hello' }] };
  const run = await call(api, 'POST', `/threads/${String(thread_id)}/runs`, {
    assistant_id: 'chat',
    input,
  });
  expect(run['status']).toBe('pending');
  await using other = await open({ config: project.file, allowAnonymous: true });
  expect(
    await call(api, 'GET', `/threads/${String(thread_id)}/runs/${String(run['run_id'])}/join`),
  ).toHaveProperty('messages');
  expect(await call(other, 'GET', `/threads/${String(thread_id)}`)).toMatchObject({ status: 'idle' });
});
