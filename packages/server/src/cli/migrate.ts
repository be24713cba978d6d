import { loadSettings } from '../config/config.ts';
import type { ConfigSources } from '../config/config.ts';

/** Applies what migrations are missing, and says which. */
export async function migrate(sources: ConfigSources): Promise<void> {
  const { settings } = loadSettings(sources);
  const { migrateDatabase } = await import('../server.ts');
  const applied = await migrateDatabase(settings);
  for (const name of applied) console.log(`applied ${name}`);
  console.log(applied.length === 0 ? 'The schema is up to date.' : 'The schema is up to date now.');
}
