// The disk of the database is full: requests are rejected with 503, and succeed when there is space again.
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { stopPostgres } from '../stop-postgres.ts';
import { sendOnce } from './caller.ts';
import { startLongRun, untilOver } from './long-run.ts';
import { startNode, type SvcNode } from './node-process.ts';
import { scaled } from '../speed.ts';

const isRoot = process.getuid?.() === 0;
if (!isRoot) console.warn('NOT RUN: a database on a full disk, since only root may mount one');

/** The disk of a node with an embedded PostgreSQL. */
let disk: string;
beforeEach(async () => {
  disk = join(inject('scratch'), 'nodes', 'full');
  await mkdir(disk, { recursive: true });
  if (isRoot) execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=200m', 'tmpfs', disk]);
});
afterEach(async () => {
  // After the kill of its node. Once unmounted, its folder is hidden from the guard of the test run.
  await stopPostgres(join(disk, 'postgres'));
  if (isRoot) execFileSync('umount', ['-l', disk]);
  await rm(disk, { recursive: true, force: true });
});

const fill = (): void =>
  void execFileSync('sh', ['-c', `dd if=/dev/zero of=${disk}/ballast bs=4k 2>/dev/null || true`]);
const freeSpace = (): Promise<void> => rm(join(disk, 'ballast'));

/** Too large for the free space in the pages of a table. */
const putItem = (node: SvcNode) => {
  const text = Array.from({ length: 20_000 }, () => Math.random().toString(36)).join('');
  const body = { namespace: ['full'], key: randomUUID(), value: { text } };
  return sendOnce(node.url, { method: 'PUT', path: '/store/items', body, tryMs: 30_000 });
};

const ready = (node: SvcNode) => sendOnce(node.url, { method: 'GET', path: '/ready' });

describe.runIf(isRoot)('a full disk', () => {
  it(
    'rejects requests that need space with 503, reports that at /ready, and costs a run no attempt',
    async () => {
      await using node = await startNode({ name: 'full', databaseUri: '' });
      const run = await startLongRun(node, 40);
      await eventually(async () => expect((await ready(node)).status).toBe(200));
      fill();
      const refused = await eventually(async () => {
        const answer = await putItem(node);
        expect([204, 503]).toContain(answer.status);
        expect(answer.status).toBe(503);
        return answer;
      }, 60_000);
      expect(refused.body).toMatchObject({ code: 'unavailable' });
      expect(refused.headers.get('retry-after')).toBe('2');
      await eventually(async () => {
        const { status, body } = await ready(node);
        expect(status).toBe(503);
        expect((body as { message: string }).message).toMatch(/disk .*is full/);
      }, 60_000);
      await freeSpace();
      await eventually(async () => expect((await putItem(node)).status).toBe(204), 60_000);
      expect(await untilOver(node, run)).toMatchObject({ attempt: 1 });
      await eventually(async () => expect((await ready(node)).status).toBe(200));
    },
    scaled(240_000),
  );
});
