// svc keys. The commands use the database directly and need no key.
import { KeyRole } from '@svc/contract';
import { loadStored } from '../stored.ts';
import type { ConfigSources } from '../../config/config.ts';
import { UsageError } from '../output/exit-code.ts';
import type { FlagValues } from '../flags.ts';
import { isId } from '../platform-api.ts';
import { isPrefix, pickByPrefix } from '../output/short-id.ts';

/** Creates a key and prints it as the only line on standard output, for scripts. */
export async function createKey(sources: ConfigSources, values: FlagValues): Promise<void> {
  const { settings } = loadStored(sources);
  const role = KeyRole.safeParse(values['role']);
  if (!role.success) throw mistake('--role', values['role'], 'Give one of admin, editor, viewer, ingest.');
  const expires = values['expires'];
  const expiresMs = typeof expires === 'string' ? Date.parse(expires) : undefined;
  if (Number.isNaN(expiresMs))
    throw mistake('--expires', expires, 'Give a time such as 2027-01-31T00:00:00Z.');
  const { withDatabase } = await import('../../app/stored-data.ts');
  const { KeyService } = await import('../../auth/keys/key-service.ts');
  const made = await withDatabase(settings, async (storage) => {
    const there = (await storage.workspaces.list(null)).map(({ id }) => id);
    const requested = values['workspace'] as string[] | undefined;
    const workspaces = requested ?? there;
    if (requested === undefined && there.length !== 1)
      throw mistake(
        '--workspace',
        undefined,
        `There are ${there.length} workspaces: name one (svc workspaces list).`,
      );
    for (const id of workspaces)
      if (!there.includes(id))
        throw mistake('--workspace', id, 'Give an id that svc workspaces list prints.');
    return new KeyService(storage.apiKeys).create({
      role: role.data,
      description: String(values['description'] as string),
      personal: false,
      workspaces: [...new Set(workspaces)],
      expires_at: expiresMs === undefined ? null : new Date(expiresMs).toISOString(),
    });
  });
  console.error(`Key ${made.id} (${made.role}) for ${made.workspaces.join(', ')}. It is not shown again:`);
  console.log(made.key);
}

export async function listKeys(sources: ConfigSources): Promise<void> {
  const { settings } = loadStored(sources);
  const { withDatabase } = await import('../../app/stored-data.ts');
  const keys = await withDatabase(settings, (storage) => storage.apiKeys.list(null));
  for (const key of keys) {
    const used = key.last_used_at === null ? 'never used' : `used ${key.last_used_at}`;
    const ends = key.expires_at === null ? '' : `  ends ${key.expires_at}`;
    const words = [
      key.id,
      key.short_key.padEnd(15),
      key.role.padEnd(6),
      `${used}${ends}`,
      printable(key.description),
    ];
    console.log(words.join('  ').trimEnd());
  }
}

export async function revokeKey(sources: ConfigSources, named: string): Promise<void> {
  const { settings } = loadStored(sources);
  if (!isId(named) && !isPrefix(named))
    throw mistake(
      'id',
      named,
      'Give the id of a key, or four or more of its first characters (svc keys list).',
    );
  const { withDatabase } = await import('../../app/stored-data.ts');
  const gone = await withDatabase(settings, async ({ apiKeys }) => {
    const id = isId(named) ? named : pickByPrefix(await apiKeys.list(null), named)?.id;
    return id === undefined ? undefined : apiKeys.revoke(id, null);
  });
  if (gone === undefined) throw new Error(`No active key has the id ${named} (see svc keys list)`);
  console.log(`Key ${gone.id} (${gone.short_key}) is revoked.`);
}

function mistake(where: string, value: unknown, remedy: string): UsageError {
  const problem = value === undefined ? 'is missing' : 'is not right';
  return new UsageError({
    where,
    problem,
    remedy,
    ...(value === undefined ? {} : { value: JSON.stringify(value) }),
  });
}

/** Replaces control characters, which could move the cursor of a terminal. */
function printable(text: string): string {
  return text.replaceAll(/\p{C}/gu, '?');
}
