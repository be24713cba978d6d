import { randomUUID } from 'node:crypto';
import { printable } from '../server-address.ts';
import { loadStored } from '../stored.ts';
import type { ConfigSources } from '../../config/config.ts';

export async function createWorkspace(sources: ConfigSources, display_name: string): Promise<void> {
  const { settings } = loadStored(sources);
  const { withDatabase } = await import('../../app/stored-data.ts');
  const id = randomUUID();
  await withDatabase(settings, (storage) => storage.workspaces.create({ id, display_name }));
  console.log(id);
}

export async function listWorkspaces(sources: ConfigSources): Promise<void> {
  const { settings } = loadStored(sources);
  const { withDatabase } = await import('../../app/stored-data.ts');
  const workspaces = await withDatabase(settings, (storage) => storage.workspaces.list(null));
  for (const { id, display_name, created_at } of workspaces)
    console.log(`${id}  ${created_at}  ${printable(display_name)}`);
}
