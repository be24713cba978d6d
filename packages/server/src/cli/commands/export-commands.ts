// The commands svc exports and svc destinations, and their help.
import { type Command, Option } from 'commander';
import { exitCodeHelp } from '../output/exit-code.ts';
import { addFlags, type FlagValues } from '../flags.ts';

/** The examples of a command, for its help. */
export const examples = (...lines: string[]): string =>
  `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}\n`;

/** Adds the options that select the server. */
const addServer = (command: Command): Command =>
  addFlags(command, ['dataDir'])
    .option(
      '--url <url>',
      'address of the server (SVC_API_URL; default: the running server of the data folder, else the configured port of this machine)',
    )
    .option(
      '--api-key <key>',
      'key of the platform API; prefer SVC_PLATFORM_API_KEY, because other users can read a command line (default on this machine: the key in the data folder)',
    )
    .option('--workspace <id>', 'required for a key of several workspaces (SVC_WORKSPACE_ID)')
    .option('--json', 'print JSON');

const idHelp = 'id of the export, or four or more of its first characters (svc exports list)';

export function addExportCommands(exports: Command): void {
  exports.addHelpText('after', exitCodeHelp);
  addServer(exports.command('create'))
    .description('export the traces of a project, once or on a schedule')
    .requiredOption('--project <name or id>', 'project to export')
    .option('--destination <name or id>', 'destination of the files')
    .option(
      '--folder <path>',
      'a folder of the server, below its SVC_EXPORT_FILE_ROOTS; instead of --destination',
    )
    .requiredOption(
      '--from <time>',
      'export trace runs that started at this time or later: 2026-11-01, 2026-11-01T12:00:00Z, 36h or 7d (ago)',
    )
    .option('--to <time>', 'export trace runs that started before this time (default: now)')
    .option(
      '--every <hours>',
      'create a schedule: one export for each period of this many hours since --from',
    )
    .option('--filter <filter>', 'export only matching trace runs; the syntax is that of /runs/query')
    .option('--fields <names>', 'comma-separated columns (default: 29 columns)')
    .addOption(
      new Option('--format-version <version>', 'version of the file format').choices(['v1', 'v2_beta']),
    )
    .addOption(
      new Option('--compression <kind>', 'compression of the files').choices([
        'none',
        'gzip',
        'snappy',
        'zstandard',
      ]),
    )
    .option('--watch', 'show the progress until the export ends; Ctrl-C does not stop the export')
    .addHelpText(
      'after',
      examples(
        'svc exports create --project default --folder shop --from 7d --watch',
        'svc exports create --project shop --destination lake --from 2026-11-01 --to 2026-12-01',
        `svc exports create --project shop --destination lake --from 1d --filter 'eq(run_type, "llm")' --fields id,start_time,total_tokens`,
        'svc exports create --project shop --destination lake --from 2026-11-01 --every 24',
      ),
    )
    .action(async (values: FlagValues) => (await import('./exports.ts')).createExport(values));
  addServer(exports.command('list'))
    .description('print exports, newest first')
    .option(
      '--status <status>',
      'only exports with this status: CREATED, RUNNING, COMPLETED, FAILED, CANCELLED, TIMEDOUT or INTERVALSCHEDULED',
    )
    .option('--schedule <id>', 'only exports of this schedule')
    .option('--limit <number>', 'number of exports', '20')
    .addHelpText('after', examples('svc exports list', 'svc exports list --status FAILED --json'))
    .action(async (values: FlagValues) => (await import('./exports.ts')).listExports(values));
  addServer(exports.command('show'))
    .description('print an export, its partition runs and its events')
    .argument('<id>', idHelp)
    .addHelpText('after', examples('svc exports show 4d2f8a0e'))
    .action(async (id: string, values: FlagValues) => (await import('./exports.ts')).showExport(id, values));
  addServer(exports.command('watch'))
    .description('show the progress of exports until they end; exit code 0 when all completed, else 4')
    .argument('[id...]', `${idHelp} (default: all that have not ended)`)
    .addHelpText('after', examples('svc exports watch', 'svc exports watch 4d2f8a0e && echo done'))
    .action(async (ids: string[], values: FlagValues) => (await import('./exports.ts')).watch(ids, values));
  addServer(exports.command('cancel'))
    .description('cancel an export or a schedule; this cannot be undone')
    .argument('<id>', idHelp)
    .addHelpText('after', examples('svc exports cancel 4d2f8a0e'))
    .action(async (id: string, values: FlagValues) =>
      (await import('./exports.ts')).cancelExport(id, values),
    );
}

const addCredentials = (command: Command): Command =>
  command
    .option(
      '--credentials <from>',
      'env: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN; -: JSON on standard input',
    )
    .option('--role-arn <arn>', 'a role that the server assumes, instead of credentials');

export function addDestinationCommands(destinations: Command): void {
  destinations.addHelpText('after', exitCodeHelp);
  addCredentials(addServer(destinations.command('create')))
    .description('create a destination after a test file was written to it')
    .requiredOption('--name <name>', 'name of the destination')
    .option('--bucket <name>', 'a bucket of S3 or of a compatible service')
    .option('--folder <path>', 'a folder of the server, below its SVC_EXPORT_FILE_ROOTS; instead of a bucket')
    .option('--prefix <prefix>', 'prefix of all keys')
    .option('--endpoint <url>', 'address of a service other than AWS')
    .option('--region <region>', 'region of the bucket')
    .addOption(
      new Option('--addressing-style <style>', 'how the bucket is named').choices([
        'auto',
        'virtual',
        'path',
      ]),
    )
    .option('--upload-options <json>', 'what every upload carries: {"ServerSideEncryption": "aws:kms"}')
    .addHelpText(
      'after',
      examples(
        'svc destinations create --name lake --bucket traces --region eu-west-1 --role-arn arn:aws:iam::…',
        'svc destinations create --name minio --bucket traces --endpoint https://minio.example.com --credentials env',
        'svc destinations create --name disk --folder shop',
      ),
    )
    .action(async (values: FlagValues) => (await import('./destinations.ts')).createDestination(values));
  addServer(destinations.command('list'))
    .description('print destinations, newest first')
    .action(async (values: FlagValues) => (await import('./destinations.ts')).listDestinations(values));
  const named = (name: string, description: string): Command =>
    addServer(destinations.command(name))
      .description(description)
      .argument(
        '<name or id>',
        'of the destination; four or more of the first characters of the id are enough',
      );
  named('show', 'print a destination, without its secrets').action(async (id: string, values: FlagValues) =>
    (await import('./destinations.ts')).showDestination(id, values),
  );
  named('test', 'write a file there as exports do: exit 0 when exports can be written, 4 when not').action(
    async (id: string, values: FlagValues) => (await import('./destinations.ts')).testDestination(id, values),
  );
  addCredentials(named('rotate', 'change its credentials, once a file could be written with the new ones'))
    .addHelpText(
      'after',
      examples(
        'svc destinations rotate lake --credentials env',
        'vault read … | svc destinations rotate lake --credentials -',
      ),
    )
    .action(async (id: string, values: FlagValues) =>
      (await import('./destinations.ts')).rotateDestination(id, values),
    );
  named('delete', 'delete a destination that no export refers to').action(
    async (id: string, values: FlagValues) =>
      (await import('./destinations.ts')).deleteDestination(id, values),
  );
}
