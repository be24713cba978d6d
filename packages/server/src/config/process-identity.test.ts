import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { hasEnded, identityOf, isAlive, ownIdentity } from './process-identity.ts';

const [pid, start] = ownIdentity({ isLocal: true }).process.split(' ');

describe('a process', () => {
  it('has not ended while it runs', () => {
    expect(hasEnded({ process: `${pid} ${start}` })).toBe(false);
    expect(isAlive(identityOf(process.pid))).toBe(true);
  });

  it('has not ended when its start time is unknown', () => {
    expect(hasEnded({ process: `${pid} ` })).toBe(false);
  });

  it.runIf(process.platform === 'linux')('has ended when its id belongs to a later process', () => {
    expect(hasEnded({ process: `${pid} ${Number(start) - 1}` })).toBe(true);
  });

  it.runIf(process.platform === 'linux')('has ended when only its exit code is left', async () => {
    // The shell does not collect the exit code of the process that it replaces.
    const parent = spawn('sh', ['-c', 'true & echo $!; exec sleep 60'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    try {
      const [line] = (await once(parent.stdout, 'data')) as [Buffer];
      const zombie = line.toString().trim();
      await expect.poll(() => hasEnded({ process: `${zombie} ` })).toBe(true);
    } finally {
      parent.kill('SIGKILL');
    }
  });
});

describe('the identity of this process', () => {
  it('names its machine where a boot id and a pid namespace identify it', () => {
    const { machine } = ownIdentity({ isLocal: false });
    if (process.platform === 'linux') expect(machine).toMatch(/^\S+ pid:\S+ \S+$/);
    else expect(machine).toBeNull();
  });
});
