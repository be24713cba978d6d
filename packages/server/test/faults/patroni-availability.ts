// Whether Patroni, etcd and PostgreSQL 15 are installed, as Debian has them.
import { existsSync } from 'node:fs';
import { bin15 } from './postgres-15.ts';

export const programs = { patroni: '/usr/bin/patroni', etcd: '/usr/bin/etcd', postgres: `${bin15}/postgres` };

/** Why there can be no cluster on this machine; undefined when there can be one. */
export const whyNoPatroni = (): string | undefined => {
  const missing = Object.values(programs).find((program) => !existsSync(program));
  if (missing !== undefined)
    return `${missing} is missing; on Debian: scripts/install-test-programs.sh faults postgres15`;
  return process.getuid?.() === 0 ? undefined : 'only root can start it as the user postgres';
};
