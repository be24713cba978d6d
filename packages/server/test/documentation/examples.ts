// The examples as servers: each is started once, when a page first starts it.
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { calendar } from '../../../../examples/auth-jwt/demo/calendar.ts';
import { createIdentityProvider } from '../../../../examples/auth-jwt/demo/identity-provider.ts';
import { Owned } from '../../src/app/owned.ts';
import { createProgram } from '../../src/cli/program.ts';
import { toSources, type FlagValues } from '../../src/cli/flags.ts';
import { loadConfig } from '../../src/config/config.ts';
import { startTestServer } from '../server.ts';

export interface Command {
  cwd: string;
  /** With the name of the program: svc, npm. */
  args: readonly string[];
  env: Readonly<Record<string, string>>;
}

export interface Started {
  documentedPort: number;
  port: number;
  documentedDataDir?: string;
  dataDir?: string;
  databaseUri?: string;
}

export interface Examples extends AsyncDisposable {
  start(command: Command): Promise<Started>;
}

type RunningExample = Required<Pick<Started, 'port' | 'dataDir' | 'databaseUri'>>;

export const openExamples = (checkout: string): Examples => {
  const owned = new Owned();
  const running = new Map<string, Promise<RunningExample>>();

  const startOnce = (project: string, apiKeys: string | undefined): Promise<RunningExample> => {
    const key = `${project} ${apiKeys ?? ''}`;
    const found = running.get(key) ?? startExample(project, apiKeys, owned);
    running.set(key, found);
    return found;
  };

  return {
    async start(command) {
      const { args, cwd, env } = throughNpm(command, checkout);
      if (args[0] === 'idp') return startProvider(owned);
      const { settings, project } = configOf(args, cwd, env);
      return {
        documentedPort: settings.http.port,
        documentedDataDir: settings.storage.dataDir,
        ...(await startOnce(project.file, env['SVC_API_KEY'])),
      };
    },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
};

const startExample = async (
  project: string,
  apiKeys: string | undefined,
  owned: Owned,
): Promise<RunningExample> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-docs-data-'));
  owned.keep({ [Symbol.asyncDispose]: () => rm(dataDir, { recursive: true, force: true }) });
  const server = owned.keep(
    await startTestServer({
      project,
      settings: {
        dataDir,
        tracing: 'on',
        egressAllow: '127.0.0.1:8080',
        ...(apiKeys === undefined ? {} : { apiKeys }),
      },
    }),
  );
  return { port: Number(new URL(server.url).port), dataDir, databaseUri: server.database.uri };
};

/** What `svc dev` or `svc start` would use: throws for options and configurations that it would refuse. */
const configOf = (args: readonly string[], cwd: string, env: Command['env']) => {
  const program = createProgram();
  const command = program.commands.find((one) => one.name() === args[1]);
  let values: FlagValues | undefined;
  command?.action((given: FlagValues) => {
    values = given;
  });
  program.parse(args.slice(1), { from: 'user' });
  if (values === undefined) throw new Error(`${args.join(' ')} starts no server`);
  return loadConfig({ ...toSources(values), cwd, env });
};

/** Resolves `npm start` and `npm run <script>`, also with `-w <workspace>`, to the command of the script. */
const throughNpm = (command: Command, checkout: string): Command => {
  const [program, ...args] = command.args;
  if (program !== 'npm') return command;
  const at = args.indexOf('-w');
  const cwd = at === -1 ? command.cwd : resolve(checkout, args[at + 1] ?? '');
  const words = at === -1 ? args : args.toSpliced(at, 2);
  const [name = '', ...rest] = words[0] === 'run' ? words.slice(1) : words;
  const { scripts } = JSON.parse(readFileSync(join(cwd, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const script = scripts[name];
  if (script === undefined) throw new Error(`${basename(cwd)} has no script ${name}`);
  if (name === 'idp') return { ...command, cwd, args: ['idp'] };
  return { ...command, cwd, args: [...script.split(' '), ...rest.filter((word) => word !== '--')] };
};

/** The identity provider and the calendar of examples/auth-jwt, on a free port instead of 3000. */
const startProvider = async (owned: Owned): Promise<Started> => {
  const app = new Hono();
  const server = createAdaptorServer({ fetch: app.fetch });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  owned.keep({ [Symbol.dispose]: () => void server.close() });
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  const provider = await createIdentityProvider(issuer);
  app.route('/', provider.app).route('/calendar', calendar);
  process.env['ISSUER'] = issuer;
  process.env['CALENDAR_URL'] = `${issuer}/calendar`;
  return { documentedPort: 3000, port };
};
