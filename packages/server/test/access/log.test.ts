// The log of a server at level trace contains no credential and no secret of a user.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { runCli } from '../cli/cli-process.ts';
import { testDatabase } from '../database.ts';
import { openSocket, refusal } from '../thread-protocol/socket.ts';

const project = fileURLToPath(new URL('./project/svc.json', import.meta.url));

it('contains no credential, whatever succeeds or fails', async () => {
  await using database = await testDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-log-'));
  try {
    const args = ['start', '--config', project, '--data-dir', dataDir, '--port', '0'];
    await using server = runCli([...args, '--log-level', 'trace', '--log-format', 'json'], {
      cwd: dataDir,
      env: { SVC_DATABASE_URI: database.uri, SVC_STUDIO_KEY: 'studio-key-canary-0123456789-0123456789' },
    });
    const [url] = await server.prints(/http:\/\/127\.0\.0\.1:\d+/);
    const send = (path: string, headers: Record<string, string>, body: object) =>
      fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
    const alice = { authorization: 'Bearer alice', 'x-canary': 'header-canary' };
    const run = (action: string) => ({ assistant_id: 'probe', input: { action, note: 'input-canary' } });
    for (const action of ['user', 'crash', 'approve', 'unknown'])
      await (await send('/runs/wait', alice, run(action))).text();
    await (await send('/runs/wait?q=query-canary', alice, run('user'))).text();
    await send('/threads', { authorization: 'Bearer wrong-canary!' }, {});
    await send('/threads', { 'x-auth-scheme': 'langsmith', 'x-api-key': 'guess-canary' }, {});
    await send(
      '/threads',
      { 'x-auth-scheme': 'langsmith', 'x-api-key': 'studio-key-canary-0123456789-0123456789' },
      {},
    );
    const { ticket } = (await (await send('/auth/tickets', alice, {})).json()) as { ticket: string };
    const query = `?ticket=${ticket}`;
    (await openSocket(url ?? '', randomUUID(), { query })).ws.close();
    await refusal(openSocket(url ?? '', randomUUID(), { query }));
    await server.prints(/"status":101/);
    await server.prints(/"status":401/);
    expect(server.output()).not.toContain(ticket);
    expect(server.output()).toContain('run ended');
    expect(server.output()).not.toMatch(/canary|Bearer|secret-of-alice/);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});
