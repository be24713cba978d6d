// The facts that docs/authentication.md states, checked against the code.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { authEvents, deploymentRoutes, type Routes } from '@svc/contract';
import { createClient } from '@svc/sdk';
import { describe, expect, it } from 'vitest';
import { startTestServer } from '../server.ts';
import { testFolder } from '../folders.ts';

const page = readFileSync(new URL('../../../../docs/authentication.md', import.meta.url), 'utf8');
const graph = fileURLToPath(new URL('./project/graph.ts:graph', import.meta.url));

/** The first match of a pattern with one group. */
const part = (pattern: RegExp): string => {
  const [, found] = pattern.exec(page) ?? [];
  if (found === undefined) throw new Error(`docs/authentication.md has nothing like ${pattern}`);
  return found;
};
const codes = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

describe('docs/authentication.md', () => {
  it('lists every event, with the fields of its value', () => {
    const rows = part(/<!-- events[^\n]*\n+([^]*?)\n\n/)
      .split('\n')
      .slice(2)
      .map((row) => row.split('|').map((cell) => cell.trim()))
      .map(([, event = '', , fields = '']) => [codes(event)[0], codes(fields).toSorted()]);
    const expected = Object.entries(authEvents).map(([event, { shape }]) => [
      event,
      Object.keys(shape).toSorted(),
    ]);
    expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(expected));
  });

  it('names the public routes', () => {
    const routes = Object.values(deploymentRoutes as Routes);
    const open = routes.filter(({ access }) => access === 'public').map(({ path }) => path);
    expect(codes(part(/The public\s+routes are (.*)\./)).toSorted()).toEqual(open.toSorted());
  });

  it('starts with an example that works', async () => {
    const code = part(/<!-- example -->\n+```ts\n([^]*?)```/);
    const folder = testFolder();
    writeFileSync(
      join(folder, 'auth.ts'),
      code.replace("'@svc/sdk/auth'", `'${import.meta.resolve('@svc/sdk/auth')}'`),
    );
    writeFileSync(
      join(folder, 'svc.json'),
      JSON.stringify({ graphs: { probe: graph }, auth: { path: './auth.ts:auth' } }),
    );
    await using server = await startTestServer({ project: join(folder, 'svc.json') });
    const as = (token: string) =>
      createClient({ apiUrl: server.url, headers: { authorization: `Bearer ${token}` } });
    const [ann, ben] = [as('token-of-ann'), as('token-of-ben')];

    const { thread_id } = await ann.threads.create();
    await expect(ben.threads.get(thread_id)).rejects.toMatchObject({ status: 404 });
    expect(await ben.threads.search()).toEqual([]);
    await expect(as('token-of-eve').threads.search()).rejects.toMatchObject({ status: 401 });

    const input = { action: 'user' };
    const values = await ann.runs.wait(thread_id, 'probe', { input });
    expect(values).toMatchObject({
      answer: { svc_auth_user_id: 'ann', svc_auth_permissions: ['assistants:write'] },
    });

    await ann.assistants.create({ graph_id: 'probe' });
    await expect(ben.assistants.create({ graph_id: 'probe' })).rejects.toMatchObject({ status: 403 });

    await ann.store.put(['notes'], 'tea', { milk: true });
    expect(await ann.store.get(['notes'], 'tea')).toMatchObject({ namespace: ['ann', 'notes'] });
    expect(await ben.store.get(['notes'], 'tea')).toBeNull();

    // The example has no handler for crons.
    const cron = ann.crons.create(null, 'probe', { schedule: '0 0 1 1 *', input });
    await expect(cron).rejects.toThrow(/No auth handler covers crons:create/);
  });
});
