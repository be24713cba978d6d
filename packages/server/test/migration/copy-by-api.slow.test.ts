// scripts/copy-from-server.ts copies threads and items between two servers.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@langchain/langgraph-sdk';
import { transform } from 'esbuild';
import { expect, it } from 'vitest';
import { startTestServer } from '../server.ts';

const here = fileURLToPath(new URL('.', import.meta.url));

/** Executes the script in this folder, where it finds the packages of the repository. */
const runScript = async (env: Record<string, string>): Promise<{ code: number | null; output: string }> => {
  const source = await readFile(join(here, '../../scripts/copy-from-server.ts'), 'utf8');
  const { code } = await transform(source, { loader: 'ts', format: 'esm' });
  const folder = await mkdtemp(join(here, 'script-'));
  try {
    await writeFile(join(folder, 'copy.mjs'), code);
    const child = spawn(process.execPath, [join(folder, 'copy.mjs')], {
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    const [exit] = (await once(child, 'close')) as [number | null];
    return { code: exit, output };
  } finally {
    await rm(folder, { recursive: true });
  }
};

it('copies states, so that conversations and interrupted threads continue', async () => {
  await using old = await startTestServer();
  await using fresh = await startTestServer();
  const [from, to] = [new Client({ apiUrl: old.url }), new Client({ apiUrl: fresh.url })];
  const say = (content: string) => ({ messages: [{ role: 'user', content }] });
  const chat = await from.threads.create({ metadata: { owner: 'ann' } });
  for (const text of ['one', 'two']) await from.runs.wait(chat.thread_id, 'chat', { input: say(text) });
  const waiting = await from.threads.create();
  await from.runs.wait(waiting.thread_id, 'approval', { input: { log: ['start'] } });
  const empty = await from.threads.create({ metadata: { kind: 'empty' } });
  await from.store.putItem(['users', 'ann'], 'likes', { tea: true });

  const env = { OLD_URL: old.url, NEW_URL: fresh.url };
  expect(await runScript(env)).toEqual({ code: 0, output: '' });
  expect(await runScript(env)).toEqual({ code: 0, output: '' });

  expect(await to.threads.get(chat.thread_id)).toMatchObject({ status: 'idle', metadata: { owner: 'ann' } });
  const values = (await to.runs.wait(chat.thread_id, 'chat', { input: say('three') })) as {
    messages: { content: string }[];
  };
  expect(values.messages.map(({ content }) => content)).toEqual([
    'one',
    'echo one',
    'two',
    'echo two',
    'three',
    'echo three',
  ]);
  expect((await to.threads.getState(waiting.thread_id)).next).toEqual(['review']);
  await to.runs.wait(waiting.thread_id, 'approval', { input: null });
  const { log } = (await to.runs.wait(waiting.thread_id, 'approval', { command: { resume: 'yes' } })) as {
    log: string[];
  };
  expect(log).toEqual(['start', 'written', 'answered yes', 'sent']);
  expect(await to.threads.get(empty.thread_id)).toMatchObject({ metadata: { kind: 'empty' } });
  expect(await to.store.getItem(['users', 'ann'], 'likes')).toMatchObject({ value: { tea: true } });
});
