import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../test/eventually.ts';
import { StandbyProcesses, ProgramProcess } from './program-process.ts';
import { testFolder } from '../../test/folders.ts';

let folder: string;
let program: string;
beforeEach(() => {
  folder = testFolder();
  program = join(folder, 'program.mjs');
  const report =
    "(await import('node:fs')).writeFileSync(new URL('pid', import.meta.url), `${process.pid}\\n`);";
  writeFileSync(program, `${report} if (process.argv[2] !== 'ends') setInterval(() => undefined, 1_000);`);
});

/** The pid of the process, which it has written to a file. */
const reportedPid = (): Promise<number> =>
  eventually(() => {
    const [, pid] = /^(\d+)\n/.exec(readFileSync(join(folder, 'pid'), 'utf8')) ?? [];
    expect(pid).toBeDefined();
    return Number(pid);
  });

const isRunning = (pid: number | undefined): boolean => {
  try {
    return pid !== undefined && process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('processes on standby', () => {
  it('are taken by a ProgramProcess, which ends them', async () => {
    await using standby = new StandbyProcesses({ program, env: {} }, 1);
    const started = standby.take();
    const ends: string[] = [];
    const child = new ProgramProcess<unknown, { kind: 'ready' }>({
      name: 'program',
      program,
      env: {},
      started,
      parse: () => undefined,
      onMessage: () => undefined,
      onEnd: (reason) => ends.push(reason),
      logger: { error: () => undefined },
    });
    expect(child.pid).toBe(started?.pid);
    await child.end();
    expect(ends).toEqual(['signal SIGKILL']);
    expect(standby.take()).toBeUndefined();
  });

  it('are skipped when they have ended', async () => {
    await using standby = new StandbyProcesses({ program, args: ['ends'], env: {} }, 1);
    const pid = await reportedPid();
    await eventually(() => expect(isRunning(pid)).toBe(false));
    expect(standby.take()).toBeUndefined();
  });

  it('end when they are not used', async () => {
    const standby = new StandbyProcesses({ program, env: {} }, 1);
    const pid = await reportedPid();
    expect(isRunning(pid)).toBe(true);
    await standby[Symbol.asyncDispose]();
    expect(isRunning(pid)).toBe(false);
  });
});
