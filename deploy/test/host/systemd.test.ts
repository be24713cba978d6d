import { copyFile, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { settingDefinitions } from '../../../packages/server/src/config/settings/definitions.ts';
import { output } from '../programs.ts';
import { itWithPrograms } from '../with-programs.ts';

const unit = join(import.meta.dirname, '../../systemd/svc@.service');

const withInstance = async (check: (instance: string) => void): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-unit-'));
  try {
    await copyFile(unit, join(folder, 'svc@.service'));
    await symlink('svc@.service', join(folder, 'svc@api.service'));
    check(join(folder, 'svc@api.service'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

itWithPrograms(['systemd-analyze'], 'the unit is valid', () =>
  withInstance((instance) => expect(output('systemd-analyze', ['verify', instance])).toBe('')),
);

itWithPrograms(['systemd-analyze'], 'the exposure of the unit is at most 1.5 of 10', () => {
  // Fails above the threshold, in tenths.
  const report = output('systemd-analyze', ['security', '--offline=true', '--threshold=15', unit]);
  expect(report).toContain('Overall exposure level');
});

it('the installation is valid shell', () => {
  expect(output('sh', ['-n', join(unit, '../install.sh')])).toBe('');
});

const backupUnits = ['svc-backup.service', 'svc-backup.timer'].map((file) => join(unit, '..', file));

itWithPrograms(['systemd-analyze'], 'the units of backups are valid', () => {
  expect(output('systemd-analyze', ['verify', ...backupUnits])).toBe('');
});

itWithPrograms(['systemd-analyze'], 'the exposure of the unit of backups is at most 1.5 of 10', () => {
  const report = output('systemd-analyze', [
    'security',
    '--offline=true',
    '--threshold=15',
    backupUnits[0] ?? '',
  ]);
  expect(report).toContain('Overall exposure level');
});

it('the unit of backups names a new prefix for each backup', async () => {
  const text = await readFile(backupUnits[0] ?? '', 'utf8');
  const command = /^ExecStart=\/bin\/sh -c '(.*)'$/m.exec(text)?.[1]?.replaceAll('%%', '%') ?? '';
  const printed = output('sh', [
    '-c',
    `BACKUP_PLACE=s3://backups/svc; ${command.replace(/^exec \S+ \S+/, 'echo')}`,
  ]);
  expect(printed.trim()).toMatch(/^backup s3:\/\/backups\/svc\/\d{4}-\d{2}-\d{2}T\d{6}Z$/);
});

it('the unit waits longer for its end than the server for its runs, and signals the server only', async () => {
  const text = await readFile(unit, 'utf8');
  const seconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(text)?.[1]);
  const grace = Number.parseInt(String(settingDefinitions.shutdownGrace.default), 10);
  expect(settingDefinitions.shutdownGrace.default).toBe(`${grace}s`);
  expect(seconds).toBeGreaterThanOrEqual(grace + 30);
  expect(text).toMatch(/^KillMode=mixed$/m);
});
