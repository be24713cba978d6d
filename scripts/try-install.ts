// npm run test:install: installs the tarballs of `npm run build` as a user would and runs each template from them.
//
//   npm run test:install -- --node 22 --node 24 --manager npm --manager pnpm --manager yarn --template agent
//
// Without options: this Node, npm, every template. Other versions of Node and package managers come from the npm registry. A folder
// with a space in its path is used throughout.
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { measureSlowdown, scaled } from '../packages/server/test/speed.ts';

measureSlowdown();

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const tarballs = join(root, 'build', 'tarballs');

const { values } = parseArgs({
  options: {
    node: { type: 'string', multiple: true, default: ['current'] },
    manager: { type: 'string', multiple: true, default: ['npm'] },
    template: { type: 'string', multiple: true, default: ['agent', 'human-in-the-loop', 'auth'] },
  },
});

/** The commands of a package manager. */
interface Manager {
  install: [file: string, ...args: string[]];
  /** Called with the folder of the new project before the installation. */
  prepare?: (folder: string) => Promise<void>;
  exec: [file: string, ...args: string[]];
  env?: Record<string, string>;
}

const scratch = await realpath(await mkdtemp(join(tmpdir(), 'svc install ')));

/** Installs packages from the registry into a new folder, and returns its node_modules. */
const fetchPackages = async (...packages: string[]): Promise<string> => {
  const folder = await mkdtemp(join(scratch, 'tool '));
  await run('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', ...packages]);
  return join(folder, 'node_modules');
};

const nodeBinary = async (version: string): Promise<string> => {
  if (version === 'current') return process.execPath;
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  return join(await fetchPackages(`${name}@${version}`), name, 'bin', 'node');
};

/**
 * yarn resolves the optional packages of all systems, but a mirror of the registry may only have those of its own system. Absent
 * packages are resolved to one that is available, and are never installed.
 */
const resolveAbsentPackages = async (folder: string): Promise<void> => {
  const bindings = JSON.parse(
    await readFile(join(root, 'node_modules/@duckdb/node-bindings/package.json'), 'utf8'),
  ) as { optionalDependencies: Record<string, string> };
  const present: string[] = [];
  const absent: string[] = [];
  for (const [name, version] of Object.entries(bindings.optionalDependencies)) {
    const found = await run('npm', ['view', `${name}@${version}`, 'version']).catch(() => undefined);
    (found ? present : absent).push(`${name}@${version}`);
  }
  if (absent.length === 0) return;
  console.log(`    not on this registry: ${absent.join(', ')}`);
  const file = join(folder, 'package.json');
  const manifest = JSON.parse(await readFile(file, 'utf8')) as { resolutions?: Record<string, string> };
  const stand = Object.fromEntries(
    absent.map((spec) => [spec.slice(0, spec.lastIndexOf('@')), `npm:${present[0]}`]),
  );
  await writeFile(file, JSON.stringify({ ...manifest, resolutions: { ...manifest.resolutions, ...stand } }));
};

const managers: Record<string, () => Promise<Manager>> = {
  npm: () =>
    Promise.resolve({
      install: ['npm', 'install', '--no-audit', '--no-fund', '--loglevel', 'error'],
      exec: ['npm', 'exec', '--'],
    }),
  pnpm: async () => {
    const program = join(await fetchPackages('pnpm@10'), 'pnpm', 'bin', 'pnpm.cjs');
    return { install: ['node', program, 'install'], exec: ['node', program, 'exec'] };
  },
  yarn: async () => {
    const program = join(
      await fetchPackages('@yarnpkg/cli-dist@4'),
      '@yarnpkg',
      'cli-dist',
      'bin',
      'yarn.js',
    );
    return {
      install: ['node', program, 'install'],
      exec: ['node', program, 'exec'],
      prepare: resolveAbsentPackages,
      env: { YARN_NODE_LINKER: 'node-modules', YARN_ENABLE_IMMUTABLE_INSTALLS: 'false' },
    };
  },
};

/** Prints the output of a failed program. */
const orExplain = async <T extends { stdout: string }>(what: Promise<T>): Promise<T> => {
  try {
    return await what;
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    console.error(stdout, stderr);
    throw error;
  }
};

interface Project {
  folder: string;
  env: NodeJS.ProcessEnv;
  manager: Manager;
  /** Authenticates the first user. */
  key?: string | undefined;
}

const post = async (url: string, body: unknown, headers: Record<string, string> = {}): Promise<string> => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return `${response.status} ${await response.text()}`;
};

const expect = (text: string, part: string): void => {
  if (!text.includes(part)) throw new Error(`expected ${JSON.stringify(part)} in: ${text}`);
};

/** The requests to each template, with the expected responses. */
const requests: Record<string, (api: string, project: Project) => Promise<void>> = {
  agent: async (api, project) => {
    const input = { messages: [{ role: 'user', content: 'What is the weather in Oslo?' }] };
    expect(await post(`${api}/runs/wait`, { assistant_id: 'agent', input }), 'The weather: snow, -3 °C.');
    const { folder, env, manager } = project;
    const [file, ...args] = manager.exec;
    const options = ['--only', 'system,assistants,threads,runs,streams', '--timeout', String(scaled(60))];
    const checks = run(file, [...args, 'svc', 'conformance', api, ...options], { cwd: folder, env });
    expect((await orExplain(checks)).stdout, 'conforms');
    expect(await (await fetch(`${api}/docs`)).text(), '/docs/assets/');
  },
  'human-in-the-loop': async (api) => {
    const { thread_id } = JSON.parse((await post(`${api}/threads`, {})).slice(4)) as { thread_id: string };
    const wait = `${api}/threads/${thread_id}/runs/wait`;
    expect(await post(wait, { assistant_id: 'approval', input: { topic: 'the party' } }), '__interrupt__');
    const command = { resume: { approve: true } };
    expect(await post(wait, { assistant_id: 'approval', command }), '"decision":"sent"');
  },
  auth: async (api, { key = '' }) => {
    const body = { assistant_id: 'echo', input: { text: 'beep' } };
    expect(await post(`${api}/runs/wait`, body), '401');
    expect(await post(`${api}/runs/wait`, body, { 'x-team-key': key }), 'red/ann says: beep');
  },
};

/** Runs the program of the `auth` template that creates keys of users. */
const newKey = async ({ folder, env, manager }: Project): Promise<string | undefined> => {
  const [file, ...args] = manager.exec;
  const { stdout } = await orExplain(
    run(file, [...args, 'tsx', 'new-key.ts', 'red', 'ann'], { cwd: folder, env }),
  );
  return stdout.trim().split('\n').at(-1);
};

const start = async ({ folder, env, manager }: Project): Promise<{ api: string; server: ChildProcess }> => {
  const [file, ...args] = manager.exec;
  const server = spawn(file, [...args, 'svc', 'dev', '--port', '0'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [server.stdout, server.stderr]) stream.on('data', (data) => (output += String(data)));
  const deadline = performance.now() + scaled(120_000);
  for (;;) {
    const api = /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0];
    if (api !== undefined) return { api, server };
    if (server.exitCode !== null || performance.now() > deadline) break;
    await sleep(100);
  }
  await stop(server);
  throw new Error(`no server: ${output}`);
};

const stop = async (server: ChildProcess): Promise<void> => {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.kill('SIGTERM');
  await ended;
};

/** Processes whose command line contains the folder of the project. Linux only. */
const processesIn = async (folder: string): Promise<string[]> => {
  const found: string[] = [];
  for (const id of (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))) {
    const commandLine = await readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '');
    if (commandLine.includes(folder)) found.push(`${id} ${commandLine.replaceAll('\0', ' ').slice(0, 150)}`);
  }
  return found;
};

const tryTemplate = async (template: string, env: NodeJS.ProcessEnv, manager: Manager): Promise<void> => {
  const folder = join(await mkdtemp(join(scratch, 'project ')), 'my agent');
  const args = ['exec', '--yes', '--package', join(tarballs, 'create-svc-0.1.0.tgz'), '--', 'create-svc'];
  await orExplain(run('npm', [...args, folder, '--template', template, '--tarballs', tarballs], { env }));
  const project: Project = { folder, env: { ...env, ...manager.env }, manager };
  await manager.prepare?.(folder);
  const [file, ...installArgs] = manager.install;
  await orExplain(run(file, installArgs, { cwd: folder, env: project.env }));
  if (template === 'auth') project.key = await newKey(project);
  const { api, server } = await start(project);
  try {
    await requests[template]?.(api, project);
  } finally {
    await stop(server);
  }
  const deadline = performance.now() + scaled(30_000);
  for (let left; (left = await processesIn(folder)).length > 0; await sleep(200))
    if (performance.now() > deadline) throw new Error(`processes are left behind:\n${left.join('\n')}`);
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
};

/** Ends all of them before it throws the first error, so that their folders can be deleted. */
const tryTemplates = async (env: NodeJS.ProcessEnv, manager: Manager): Promise<void> => {
  const results = await Promise.allSettled(
    values.template.map((template) => tryTemplate(template, env, manager)),
  );
  for (const result of results) if (result.status === 'rejected') throw result.reason;
};

const tryAll = async (): Promise<void> => {
  for (const version of values.node) {
    const node = await nodeBinary(version);
    const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env['PATH']}` };
    const { stdout } = await run(node, ['--version']);
    for (const name of values.manager) {
      const manager = await managers[name]?.();
      if (!manager)
        throw new Error(`unknown package manager ${name}; known: ${Object.keys(managers).join(', ')}`);
      const begun = performance.now();
      await tryTemplates(env, manager);
      const seconds = Math.round((performance.now() - begun) / 1000);
      console.log(`Node ${stdout.trim()}, ${name}, ${values.template.join(', ')}: ${seconds} s`);
    }
  }
};

try {
  await tryAll();
} finally {
  await rm(scratch, { recursive: true, force: true, maxRetries: 5 });
}
