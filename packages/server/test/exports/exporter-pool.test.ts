// Exporter processes that wait for commands, and exit when they are idle.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeAll, expect, it, vi } from 'vitest';
import { ExporterPool } from '../../src/exports/worker/exporter-pool.ts';
import type { ExporterSetup, ExportCommand } from '../../src/exports/exporter/exporter-protocol.ts';
import { sharedFolder } from '../folders.ts';

const folder = sharedFolder();
let program: string;
beforeAll(async () => {
  program = join(folder, 'exporter.mjs');
  const channel = new URL('../../src/jobs/process-channel.ts', import.meta.url).href;
  await writeFile(
    program,
    `import { register } from ${JSON.stringify(import.meta.resolve('tsx/esm/api'))};
    register();
    const { openParentChannel } = await import(${JSON.stringify(channel)});
    const channel = openParentChannel({
      onMessage: ({ kind }) => {
        if (kind !== 'execute') return;
        for (const message of ['ready', null, { kind: 'file' }, { kind: 'outcome', outcome: 7 }]) channel.send(message);
        channel.send({ kind: 'outcome', outcome: { kind: 'done' } });
      },
      onClose: () => process.exit(0),
    });`,
  );
});
afterEach(() => void vi.useRealTimers());

/** Runs a command; resolves with its outcome, or with the reason of its loss. */
const executed = (pool: ExporterPool): Promise<string> =>
  new Promise((resolve) => {
    pool.run({} as ExportCommand, {
      onFile: () => undefined,
      onReplica: () => undefined,
      onOutcome: ({ kind }) => resolve(kind),
      onLost: resolve,
    });
  });

it('a command that arrives while an idle exporter exits is executed by another exporter', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const setup = {} as ExporterSetup;
  const pool = new ExporterPool({
    setup,
    slots: 1,
    program,
    idleMs: 1_000,
    logger: pino({ level: 'silent' }),
  });
  await using _pool = pool;
  expect(await executed(pool)).toBe('done');
  const [first] = pool.pids();
  vi.advanceTimersByTime(1_000);
  expect(pool.freeSlots).toBe(1);
  expect(await executed(pool)).toBe('done');
  expect(pool.pids()).not.toContain(first);
  await pool[Symbol.asyncDispose]();
  expect(pool.crashes).toBe(0);
});

it('invalid messages of an exporter are dropped, and logged once', async () => {
  const lines: string[] = [];
  const logger = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) });
  await using pool = new ExporterPool({ setup: {} as ExporterSetup, slots: 1, program, logger });
  expect(await executed(pool)).toBe('done');
  expect(await executed(pool)).toBe('done');
  expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
    'exporter sent an unknown message',
  ]);
});
