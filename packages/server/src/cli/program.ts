// The commands and their help. Each action is imported when it is called, so that `svc --help` starts fast.

import { Argument, Command } from 'commander';
import { completionScript, shells } from './output/completion.ts';
import { exitCodeHelp } from './output/exit-code.ts';
import { addDestinationCommands, addExportCommands, examples } from './commands/export-commands.ts';
import { addFlags, type FlagValues, toSources } from './flags.ts';
import { packageVersion } from '../config/package-files.ts';

/** Flags of commands that use the database directly. */
const databaseFlags = ['dataDir', 'logLevel', 'logFormat'] as const;

const bucketHelp = `
For a bucket: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION, and
AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL for other services than AWS.
`;

export function createProgram(): Command {
  const program = new Command('svc')
    .description('Serves LangGraph graphs: durable threads, runs and streaming.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .exitOverride()
    .configureHelp({ showGlobalOptions: false })
    .showHelpAfterError('(svc --help lists the commands)')
    .addHelpText(
      'after',
      examples('svc dev', 'svc start --port 8080 --config deploy/svc.json', 'svc help start') + exitCodeHelp,
    );

  addFlags(program.command('dev'))
    .description('serve the graphs, and restart when loaded code or the configuration changes')
    .addHelpText('after', examples('svc dev', 'svc dev --port 8080', 'DATABASE_URI=postgres://… svc dev'))
    .action(async (values: FlagValues) => (await import('./commands/dev.ts')).dev(toSources(values)));

  addFlags(program.command('start'))
    .description('serve the graphs')
    .addHelpText(
      'after',
      examples(
        'svc start',
        'SVC_API_KEY=… svc start --host 0.0.0.0 --port 8080',
        'svc start --executors 4 --n-jobs-per-worker 20',
      ),
    )
    .action(async (values: FlagValues) => (await import('./commands/start.ts')).start(toSources(values)));

  addFlags(program.command('migrate'), databaseFlags)
    .description('update the schema of the database')
    .option('--plan', 'print the migrations that would be applied, and change nothing')
    .option('--contract', 'also remove what only earlier releases use; stop their servers first')
    .addHelpText('after', examples('svc migrate --plan', 'DATABASE_URI=postgres://… svc migrate'))
    .action(async (values: FlagValues) =>
      (await import('./commands/migrate.ts')).migrate(toSources(values), {
        plan: values['plan'] === true,
        contract: values['contract'] === true,
      }),
    );

  addMigrateFromCommand(program.command('migrate-from'));
  addInspectionCommands(program);
  addBackupCommands(program);
  addCompletionCommand(program);
  addImageCommands(program);
  addConformanceCommand(program.command('conformance'));
  addAssistantCommands(program.command('assistants').description('assistants of the deployment'));
  addKeyCommands(program.command('keys').description('API keys of the platform'));
  addWorkspaceCommands(program.command('workspaces').description('workspaces of the platform'));
  addExportCommands(
    program.command('exports').description('exports of traces as Parquet files, by a running server'),
  );
  addDestinationCommands(program.command('destinations').description('buckets and folders for exports'));
  return program;
}

function addMigrateFromCommand(command: Command): void {
  addFlags(command, databaseFlags)
    .description('import the data of another server: threads, runs, assistants and store items')
    .addArgument(new Argument('<server>', 'the server that wrote the data').choices(['langgraph-api']))
    .argument('<folder>', 'the project of the LangGraph.js dev server, or its folder .langgraph_api')
    .option('--dry-run', 'read everything, print what would be imported, and write nothing')
    .option('--any-graph', 'also import threads of graphs that the configuration does not have')
    .option('--json', 'print the report as JSON')
    .addHelpText(
      'after',
      examples(
        'svc migrate-from langgraph-api . --dry-run',
        'svc migrate-from langgraph-api ../agent/.langgraph_api',
        'DATABASE_URI=postgres://… svc migrate-from langgraph-api .',
      ) + exitCodeHelp,
    )
    .action(async (_server: string, folder: string, values: FlagValues) =>
      (await import('./commands/migrate-from.ts')).migrateFrom(toSources(values), folder, {
        dryRun: values['dryRun'] === true,
        anyGraph: values['anyGraph'] === true,
        json: values['json'] === true,
      }),
    );
}

/** Commands that look at an installation and change nothing. */
function addInspectionCommands(program: Command): void {
  addFlags(program.command('health'), ['dataDir', 'port'])
    .description('ask a running server whether it is ready, as health checks of containers do')
    .option('--url <url>', 'address of the server (SVC_API_URL; default: the server of this configuration)')
    .option('--timeout <seconds>', 'time limit', '5')
    .addHelpText('after', examples('svc health', 'svc health --url http://127.0.0.1:8080') + exitCodeHelp)
    .action(async (values: FlagValues) => (await import('./commands/health.ts')).health(values));

  addFlags(program.command('doctor'))
    .description(
      'check an installation without changing it: settings, data folder, database, destinations, webhooks',
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples('svc doctor', 'svc doctor --config deploy/svc.json --json') +
        '\nExit codes:\n  0    no problem; there may be warnings\n  1    there is a problem\n  2    wrong usage\n',
    )
    .action(async (values: FlagValues) =>
      (await import('./commands/doctor.ts')).doctor(toSources(values), values['json'] === true),
    );

  addFlags(program.command('config'))
    .description('print the settings and the origin of each')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('svc config', 'SVC_PORT=8080 svc config --json'))
    .action(async (values: FlagValues) =>
      (await import('./commands/show-config.ts')).showConfig(toSources(values), values['json'] === true),
    );
}

function addBackupCommands(program: Command): void {
  addFlags(program.command('backup'), databaseFlags)
    .description('copy all data of the database to a new folder or into a bucket, while servers run')
    .argument('<place>', 'a new or empty folder, or s3://bucket/prefix without objects')
    .addHelpText(
      'after',
      examples(
        'svc backup backups/monday',
        'DATABASE_URI=postgres://… svc backup monday',
        'AWS_ENDPOINT_URL_S3=https://s3.example.com svc backup s3://backups/svc/monday',
      ) + bucketHelp,
    )
    .action(async (place: string, values: FlagValues) =>
      (await import('./commands/backup.ts')).backup(toSources(values), place),
    );
  addFlags(program.command('restore'), databaseFlags)
    .description('load a backup into a new data folder, or into an empty database')
    .argument('<place>', 'a folder or s3://bucket/prefix to which svc backup wrote')
    .option('--check', 'check all files of the backup, and restore nothing')
    .addHelpText(
      'after',
      examples(
        'svc restore backups/monday --data-dir restored',
        'DATABASE_URI=postgres://… svc restore monday',
        'svc restore s3://backups/svc/monday --check',
      ) + bucketHelp,
    )
    .action(async (place: string, values: FlagValues) =>
      (await import('./commands/backup.ts')).restore(toSources(values), place, {
        checkOnly: values['check'] === true,
      }),
    );
}

function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('print a script that completes svc commands in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .addHelpText('after', examples('source <(svc completion bash)', 'svc completion fish | source'))
    .action((shell: (typeof shells)[number]) => {
      process.stdout.write(completionScript(program, shell));
    });
}

function addImageCommands(program: Command): void {
  const withBase = (command: Command): Command =>
    addFlags(command, []).option(
      '--base-image <image>',
      'image to start from (default: node:24-slim, with Python files python:3.12-slim)',
    );
  withBase(program.command('dockerfile'))
    .description('print a Dockerfile for this project, by its lock file (npm, pnpm, yarn, uv, poetry, pip)')
    .option('--dockerignore', 'print the .dockerignore instead')
    .addHelpText(
      'after',
      examples('svc dockerfile > Dockerfile', 'svc dockerfile --dockerignore > .dockerignore'),
    )
    .action(async (values: FlagValues) => (await import('./commands/image.ts')).printDockerfile(values));
  withBase(program.command('build'))
    .description('write a folder from which the image of this project can be built')
    .option('--output <folder>', 'a new or empty folder, or one that svc build wrote (default: .svc/image)')
    .addHelpText('after', examples('svc build', 'svc build --output ../image && docker build ../image'))
    .action(async (values: FlagValues) => (await import('./commands/image.ts')).buildContext(values));
}

/** Values of an option that may be repeated. */
const collect = (value: string, before: string[] = []): string[] => [...before, value];

function addConformanceCommand(command: Command): void {
  command
    .description('check a server from outside: its API, streams, access of users, and protocols')
    .argument('<url>', 'address of the server, with its mount prefix')
    .option(
      '--header <header>',
      "a header of all requests, such as 'authorization: Bearer …'; may be repeated",
      collect,
    )
    .option(
      '--second-header <header>',
      'a header with the credential of another user; may be repeated',
      collect,
    )
    .option('--only <areas>', 'comma-separated areas')
    .option('--json <file>', 'write the report as JSON')
    .option('--timeout <seconds>', 'time limit of one check', '60')
    .option('--agent <graph>', 'graph id of the agent with messages', 'agent')
    .option('--approval <graph>', 'graph id of the agent that asks for approval', 'approval')
    .addHelpText(
      'after',
      examples(
        'svc conformance http://127.0.0.1:2024',
        "svc conformance https://agents.example.com --header 'x-api-key: …' --only runs,streams",
      ) + exitCodeHelp,
    )
    .action(async (url: string, values: FlagValues) =>
      (await import('./commands/conformance.ts')).conformance(url, values),
    );
}

function addAssistantCommands(assistants: Command): void {
  addFlags(assistants.command('prune'), databaseFlags)
    .description('list the default assistants of graphs that no server executes; --delete deletes them')
    .option('--delete', 'delete the assistants, with their crons and runs')
    .option('--graph <id...>', 'only the assistants of these graphs')
    .addHelpText('after', examples('svc assistants prune', 'svc assistants prune --graph old --delete'))
    .action(async (values: FlagValues) => {
      const { pruneAssistants } = await import('./commands/assistants.ts');
      const graphs = values['graph'] as string[] | undefined;
      await pruneAssistants(toSources(values), { delete: values['delete'] === true, graphs });
    });
}

function addKeyCommands(keys: Command): void {
  addFlags(keys.command('create'), databaseFlags)
    .description('create a key and print it; it cannot be shown again')
    .option('--workspace <id...>', 'workspaces that the key can use (default: the only workspace)')
    .option('--role <role>', 'admin, editor, viewer or ingest', 'editor')
    .option('--description <text>', 'purpose of the key', '')
    .option('--expires <time>', 'time at which it expires (ISO 8601)')
    .addHelpText('after', examples('svc keys create --role ingest --description "tracing of the shop"'))
    .action(async (values: FlagValues) =>
      // The role of a key is not the setting of the same name.
      (await import('./commands/keys.ts')).createKey(toSources({ ...values, role: undefined }), values),
    );
  addFlags(keys.command('list'), databaseFlags)
    .description('print the active keys')
    .action(async (values: FlagValues) => (await import('./commands/keys.ts')).listKeys(toSources(values)));
  addFlags(keys.command('revoke'), databaseFlags)
    .description('revoke a key on all servers')
    .argument('<id>', 'id of the key, or four or more of its first characters (svc keys list)')
    .action(async (id: string, values: FlagValues) =>
      (await import('./commands/keys.ts')).revokeKey(toSources(values), id),
    );
}

function addWorkspaceCommands(workspaces: Command): void {
  addFlags(workspaces.command('create'), databaseFlags)
    .description('create a workspace; svc keys create makes keys for it')
    .argument('<name>', 'its name')
    .action(async (name: string, values: FlagValues) =>
      (await import('./commands/workspaces.ts')).createWorkspace(toSources(values), name),
    );
  addFlags(workspaces.command('list'), databaseFlags)
    .description('print the workspaces')
    .action(async (values: FlagValues) =>
      (await import('./commands/workspaces.ts')).listWorkspaces(toSources(values)),
    );
}
