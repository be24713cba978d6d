// PostgreSQL 15, the oldest version that svc supports, as Debian installs it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Binaries } from '../../src/storage/embedded/binaries.ts';

export const bin15 = '/usr/lib/postgresql/15/bin';

/** In the place of the embedded PostgreSQL. */
export const binaries15: Binaries = {
  program: (name) => join(bin15, name),
  env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' },
  major: 15,
};

/** Why tests cannot start it on this machine; undefined when they can. */
export const whyNoPostgres15 = (): string | undefined =>
  existsSync(join(bin15, 'pg_basebackup'))
    ? undefined
    : `${bin15} is missing; on Debian: scripts/install-test-programs.sh postgres15`;
