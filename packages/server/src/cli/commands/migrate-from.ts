// svc migrate-from: imports the data of another server.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Config, type ConfigSources, loadSettings } from '../../config/config.ts';
import type { SvcJson } from '../../config/project/svc-json.ts';
import type { MigrationOptions } from '../../migration/migration.ts';
import type { LeftOut, MigrationReport } from '../../migration/migration-report.ts';
import type { Database, DatabaseOptions } from '../../storage/postgres/database.ts';
import { interruptible } from '../stop-signal.ts';
import { exitCodes, UsageError } from '../output/exit-code.ts';
import { printable } from '../server-address.ts';
import { ProgressLine } from '../output/progress-line.ts';
import { count, plural } from '../output/quantities.ts';

export interface MigrateFromOptions {
  dryRun: boolean;
  /** Import threads of graphs that the configuration does not have. */
  anyGraph: boolean;
  json: boolean;
}

export async function migrateFrom(
  sources: ConfigSources,
  folder: string,
  options: MigrateFromOptions,
): Promise<void> {
  const { settings, project } = loadSettings(sources);
  if (project === undefined && !options.anyGraph) throw noProject(sources.cwd);
  const report = await interruptible((signal) =>
    importFrom(resolve(sources.cwd, folder), { settings, project }, options, signal),
  );
  if (options.json) console.log(JSON.stringify(report, null, 2));
  else for (const line of reportLines(report)) console.log(line);
  if (report.left_out.some(({ isFault }) => isFault)) process.exitCode = exitCodes.failed;
}

type Loaded = Pick<Config, 'settings'> & { project: SvcJson | undefined };

const importFrom = async (
  folder: string,
  { settings, project }: Loaded,
  { dryRun, anyGraph }: MigrateFromOptions,
  signal: AbortSignal,
): Promise<MigrationReport> => {
  const { openDevServerFolder } = await import('../../migration/dev-server-folder.ts');
  const { migrate } = await import('../../migration/migration.ts');
  const { databaseTarget, dryTarget } = await import('../../migration/target.ts');
  const source = await openDevServerFolder(folder, signal);
  using line = new ProgressLine(process.stderr);
  const graphs = new Set(project?.graphs.keys());
  const common = {
    source,
    signal,
    isDry: dryRun,
    onProgress: (done: number, all: number) => line.show(`${count(done)} of ${plural(all, 'thread')}`),
  };
  if (dryRun) {
    const { checkThread } = await import('../../migration/thread-importer.ts');
    return withDatabaseIfAny(settings, (database) =>
      migrate({
        ...common,
        target: dryTarget(database),
        importThread: checkThread,
        ...graphRules(graphs, new Map(), anyGraph),
      }),
    );
  }
  const { withUnmigratedDatabase } = await import('../../app/stored-data.ts');
  const { migrate: migrateSchema } = await import('../../storage/schema/migrate.ts');
  const { ThreadImporter } = await import('../../migration/thread-importer.ts');
  return withUnmigratedDatabase(settings, async (database, databaseOptions: DatabaseOptions) => {
    await migrateSchema(database);
    await using importer = new ThreadImporter({ database: databaseOptions, project, log: settings.log });
    const failures = await importer.failures();
    return await migrate({
      ...common,
      target: databaseTarget(database),
      importThread: (command) => importer.import(command),
      ...graphRules(graphs, failures, anyGraph),
    });
  });
};

const graphRules = (
  graphs: ReadonlySet<string>,
  failures: ReadonlyMap<string, string>,
  anyGraph: boolean,
): Pick<MigrationOptions, 'obstacle' | 'hasGraph'> => ({
  hasGraph: (graph_id) => graphs.has(graph_id) && !failures.has(graph_id),
  obstacle(graph_id) {
    if (anyGraph) return undefined;
    if (!graphs.has(graph_id))
      return `the configuration does not have its graph "${graph_id}". Add the graph, or import with --any-graph`;
    return failures.get(graph_id);
  },
});

/** A dry run creates no database, and changes no schema. */
const withDatabaseIfAny = async (
  settings: Loaded['settings'],
  work: (database: Database | undefined) => Promise<MigrationReport>,
): Promise<MigrationReport> => {
  const { databaseUri, dataDir } = settings.storage;
  if (databaseUri === undefined && !existsSync(join(dataDir, 'postgres'))) return work(undefined);
  const { withUnmigratedDatabase } = await import('../../app/stored-data.ts');
  const { readSchemaState } = await import('../../storage/schema/migrate.ts');
  return withUnmigratedDatabase(settings, async (database) =>
    work((await readSchemaState(database)).isEmpty ? undefined : database),
  );
};

const noProject = (cwd: string): UsageError =>
  new UsageError({
    where: cwd,
    problem: 'there is no svc.json and no langgraph.json here, so no graph is known',
    remedy:
      'Name the config file with --config. With --any-graph, threads are imported without the names of their next nodes.',
  });

// The report of an import.

/** Ids that are printed for one reason. */
const shownMax = 20;

const reportLines = (report: MigrationReport): string[] => {
  const { threads, runs, assistants, items, dry_run } = report;
  const verb = dry_run ? 'to import' : 'imported';
  const line = (name: string, imported: string, existing: number | undefined, left_out: number): string =>
    [
      `${name.padEnd(12)}${imported} ${verb}`,
      ...(existing === undefined ? [] : [`${count(existing)} here already`]),
      `${count(left_out)} left out`,
    ].join(', ');
  return [
    line(
      'Threads',
      `${count(threads.imported)} (${plural(threads.checkpoints, 'checkpoint')})`,
      threads.existing,
      threads.left_out,
    ),
    line('Runs', count(runs.imported), undefined, runs.left_out),
    line(
      'Assistants',
      `${count(assistants.imported)} (${plural(assistants.versions, 'version')})`,
      assistants.existing,
      assistants.left_out,
    ),
    line('Items', count(items.imported), items.existing, items.left_out),
    ...leftOutLines(report.left_out),
    ...report.notices.map((notice) => `Note: ${printable(notice)}`),
    ...(dry_run ? ['Nothing was written: this was a dry run.'] : []),
  ];
};

const leftOutLines = (list: readonly LeftOut[]): string[] => {
  const byReason = new Map<string, string[]>();
  for (const { kind, id, reason } of list) {
    const heading = `Left out: ${kind}: ${printable(reason)}`;
    const ids = byReason.get(heading) ?? [];
    ids.push(printable(id));
    byReason.set(heading, ids);
  }
  return [...byReason].flatMap(([heading, ids]) => [
    heading,
    ...ids.slice(0, shownMax).map((id) => `  ${id}`),
    ...(ids.length > shownMax ? [`  and ${count(ids.length - shownMax)} more (--json lists all)`] : []),
  ]);
};
