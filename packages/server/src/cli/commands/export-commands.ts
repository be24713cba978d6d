// svc exports and svc destinations, and their help.
import { type Command, Option } from 'commander';
import { exitCodeHelp } from '../output/exit-code.ts';
import { addFlags } from '../flags.ts';
import type { FlagValues } from '../flags.ts';

const examples = (...lines: string[]): string =>
  `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}\n`;

/** How the server is reached. */
const addServer = (command: Command): Command =>
  addFlags(command, ['dataDir'])
    .option(
      '--url <url>',
      'the server (SVC_API_URL; default: the one of the data folder that runs, else this machine, on the port of the config)',
    )
    .option(
      '--api-key <key>',
      'a key of the platform; better in SVC_API_KEY, since others can read a command line (default on this machine: the key in the data folder)',
    )
    .option('--workspace <id>', 'needed by a key that reaches several (SVC_WORKSPACE_ID)')
    .option('--json', 'print JSON');

const idHelp = 'id of the export, or four or more of its first characters (svc exports list)';

export function addExportCommands(exports: Command): void {
  exports.addHelpText('after', exitCodeHelp);
  addServer(exports.command('create'))
    .description('export runs of a project, once or by a schedule')
    .requiredOption('--project <name or id>', 'whose runs')
    .option('--destination <name or id>', 'where to')
    .option(
      '--folder <path>',
      'where to: a folder of the server, below its SVC_EXPORT_FILE_ROOTS; in place of --destination',
    )
    .requiredOption(
      '--from <time>',
      'runs that started then or later: 2026-11-01, 2026-11-01T12:00:00Z, 36h or 7d (ago)',
    )
    .option('--to <time>', 'and before this (default: now)')
    .option('--every <hours>', 'a schedule: an export of every so many hours from --from on')
    .option('--filter <filter>', 'only runs that match, in the language of /runs/query')
    .option('--fields <names>', 'columns, with commas between (default: the usual 29)')
    .addOption(new Option('--format-version <version>', 'of the files').choices(['v1', 'v2_beta']))
    .addOption(
      new Option('--compression <kind>', 'of the files').choices(['none', 'gzip', 'snappy', 'zstandard']),
    )
    .option('--watch', 'show its progress until it ends; Ctrl-C leaves it running')
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
      'only these: CREATED, RUNNING, COMPLETED, FAILED, CANCELLED, TIMEDOUT or INTERVALSCHEDULED',
    )
    .option('--schedule <id>', 'only those that a schedule has made')
    .option('--limit <number>', 'how many', '20')
    .addHelpText('after', examples('svc exports list', 'svc exports list --status FAILED --json'))
    .action(async (values: FlagValues) => (await import('./exports.ts')).listExports(values));
  addServer(exports.command('show'))
    .description('print an export, its runs, and what happened')
    .argument('<id>', idHelp)
    .addHelpText('after', examples('svc exports show 4d2f8a0e'))
    .action(async (id: string, values: FlagValues) => (await import('./exports.ts')).showExport(id, values));
  addServer(exports.command('watch'))
    .description(
      'show the progress of exports until they end: exit 0 when all are completed, 4 when one is not',
    )
    .argument('[id...]', `${idHelp} (default: all that are under way)`)
    .addHelpText('after', examples('svc exports watch', 'svc exports watch 4d2f8a0e && echo done'))
    .action(async (ids: string[], values: FlagValues) => (await import('./exports.ts')).watch(ids, values));
  addServer(exports.command('cancel'))
    .description('stop an export for good, or a schedule')
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
    .option('--role-arn <arn>', 'a role that the server assumes, in place of credentials');

export function addDestinationCommands(destinations: Command): void {
  destinations.addHelpText('after', exitCodeHelp);
  addCredentials(addServer(destinations.command('create')))
    .description('make a destination, once a file could be written there')
    .requiredOption('--name <name>', 'what to call it')
    .option('--bucket <name>', 'a bucket of S3, or of a service that speaks it')
    .option(
      '--folder <path>',
      'a folder of the server, below its SVC_EXPORT_FILE_ROOTS; in place of a bucket',
    )
    .option('--prefix <prefix>', 'what all keys in the bucket begin with')
    .option('--endpoint <url>', 'of a service other than AWS')
    .option('--region <region>', 'of the bucket')
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
