// Probes all destinations of all workspaces, for a command without a server.
import type { Probe } from '@svc/contract';
import { Problem } from '@svc/contract/problem';
import { findSealer } from '../auth/sealed-users/encryption-key.ts';
import { SealError } from '../auth/sealed-users/sealer.ts';
import type { Settings } from '../config/settings/settings.ts';
import { CredentialVault } from '../exports/destinations/credential-vault.ts';
import { DestinationService } from '../exports/destinations/destination-service.ts';
import { probeFailure } from '../exports/destinations/probe.ts';
import { EgressGuard } from '../net/guard.ts';
import type { Storage } from '../storage/storage.ts';

export interface DestinationProbe {
  id: string;
  name: string;
  workspace: string;
  /** Undefined when a file could be written. */
  failure: { kind: 'failed' | 'skipped'; message: string } | undefined;
}

export interface ProbeLimits {
  /** Time limit of one probe. */
  probeMs: number;
  /** No probe begins after this time. */
  allMs: number;
}

/** Probes at the same time; a workspace is allowed so many. */
const together = 4;

/** Writes and deletes a small file at each destination, like the test of the platform API. Changes nothing in the database. */
export const probeDestinations = async (
  storage: Pick<Storage, 'workspaces' | 'destinations'>,
  settings: Settings,
  { probeMs, allMs }: ProbeLimits,
): Promise<DestinationProbe[]> => {
  const untilMs = performance.now() + allMs;
  const service = openService(storage, settings);
  const waiting = await listAll(storage);
  const probes: DestinationProbe[] = [];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const isLate = performance.now() > untilMs;
      const failure = isLate
        ? ({ kind: 'skipped', message: `the others took ${allMs / 1_000} s` } as const)
        : await failureOf(() => service.check(next.tenant_id, next.id, probeMs));
      probes.push({ id: next.id, name: next.name, workspace: next.workspace, failure });
    }
  };
  await Promise.all(Array.from({ length: together }, work));
  return probes;
};

const failureOf = async (test: () => Promise<Probe>): Promise<DestinationProbe['failure']> => {
  try {
    const probed = await test();
    if (probed.ok) return undefined;
    const { code, message } = probeFailure(probed);
    return { kind: 'failed', message: `${code}: ${message}` };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { cause } = error;
    return { kind: 'failed', message: cause instanceof SealError ? `${cause.message}.` : error.message };
  }
};

const openService = (
  { destinations }: Pick<Storage, 'destinations'>,
  settings: Settings,
): DestinationService => {
  const { fileRoots, folderRules, lendsCredentials } = settings.exports;
  const sealer = {
    async get() {
      const found = await findSealer(settings.auth.encryptionKey, settings.storage.dataDir);
      if (found === undefined) throw new SealError('This installation has no key to decrypt the credentials');
      return found;
    },
  };
  const stores = { guard: new EgressGuard(settings.egress.allow), fileRoots, folderRules, lendsCredentials };
  return new DestinationService({ destinations, vault: new CredentialVault(sealer), stores });
};

interface Listed {
  tenant_id: string;
  id: string;
  name: string;
  workspace: string;
}

const listAll = async ({
  workspaces,
  destinations,
}: Pick<Storage, 'workspaces' | 'destinations'>): Promise<Listed[]> => {
  const all: Listed[] = [];
  for (const { id: tenant_id, display_name } of await workspaces.list(null))
    for (const row of await destinations.list(tenant_id))
      all.push({ tenant_id, id: row.id, name: row.display_name, workspace: display_name });
  return all;
};
