// Imports into a database as the command does.
import { loadSvcJson } from '../../src/config/project/svc-json.ts';
import { testSettings } from '../settings.ts';
import { openDevServerFolder } from '../../src/migration/dev-server-folder.ts';
import { migrate, type MigrationOptions } from '../../src/migration/migration.ts';
import type { MigrationReport } from '../../src/migration/migration-report.ts';
import { databaseTarget } from '../../src/migration/target.ts';
import { ThreadImporter } from '../../src/migration/thread-importer.ts';
import { testProject } from '../server.ts';
import type { TestDatabase } from '../database.ts';

export const startImporter = (database: TestDatabase, project = testProject): ThreadImporter =>
  new ThreadImporter({
    database: database.options,
    project: loadSvcJson(project, {}),
    log: testSettings({ dataDir: '.' }).log,
  });

export const importFolder = async (
  folder: string,
  database: TestDatabase,
  importer: ThreadImporter,
  changed: Partial<MigrationOptions> = {},
): Promise<MigrationReport> => {
  const signal = changed.signal ?? new AbortController().signal;
  const failures = await importer.failures();
  return migrate({
    source: await openDevServerFolder(folder, signal),
    target: databaseTarget(database),
    importThread: (command) => importer.import(command),
    obstacle: (graph_id) => (graph_id === 'unknown' ? 'its graph is unknown' : failures.get(graph_id)),
    hasGraph: (graph_id) => graph_id !== 'unknown' && !failures.has(graph_id),
    isDry: false,
    signal,
    onProgress: () => undefined,
    ...changed,
  });
};
