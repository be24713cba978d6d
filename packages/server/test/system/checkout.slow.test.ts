// How the command starts in a checkout: a copy of this one.
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
let parent: string;
let copy: string;

const copied = [
  'server/src',
  'server/bin',
  'server/python',
  'server/package.json',
  'contract',
  'sdk',
  'conformance',
];

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'svc-checkout-'));
  copy = join(parent, 'a checkout');
  const paths = [
    ...copied.map((path) => `packages/${path}`),
    'scripts/build',
    'package.json',
    'package-lock.json',
  ];
  for (const path of paths) await cp(join(root, path), join(copy, path), { recursive: true });
  // The packages of the workspace are those of the copy.
  await mkdir(join(copy, 'node_modules/@svc'), { recursive: true });
  for (const name of await readdir(join(root, 'node_modules')))
    if (!['@svc', '.bin'].includes(name))
      await symlink(join(root, 'node_modules', name), join(copy, 'node_modules', name), 'junction');
  for (const name of ['contract', 'sdk', 'conformance'])
    await symlink(join(copy, 'packages', name), join(copy, 'node_modules/@svc', name), 'junction');
});

afterAll(() => rm(parent, { recursive: true, force: true }));

const help = async (): Promise<string> => {
  const svc = join(copy, 'packages/server/bin/svc.js');
  return (await promisify(execFile)(process.execPath, [svc, '--help'])).stdout;
};

const compiled = (): Promise<string[]> => readdir(join(copy, 'build/checkout'));

/** Changes the first line of the help. */
const edit = async (from: string, to: string): Promise<void> => {
  const file = join(copy, 'packages/server/src/cli/program.ts');
  await writeFile(file, (await readFile(file, 'utf8')).replace(from, to));
};

it('two starts at once compile the sources into one folder, which later starts use', async () => {
  const texts = await Promise.all([help(), help()]);
  expect(texts[0]).toContain('Serves LangGraph graphs');
  expect(texts[1]).toBe(texts[0]);
  const folders = await compiled();
  expect(folders).toHaveLength(1);
  expect(await help()).toBe(texts[0]);
  expect(await compiled()).toEqual(folders);
});

it('a start after an edit has the new code, and deletes what no process uses', async () => {
  const before = await compiled();
  await edit('Serves LangGraph graphs', 'Serves edited graphs');
  expect(await help()).toContain('Serves edited graphs');
  const after = await compiled();
  expect(after).toHaveLength(1);
  expect(after).not.toEqual(before);
});

it('a start after an edit also deletes a folder whose deletion was interrupted', async () => {
  await mkdir(join(copy, 'build/checkout/0123456789abcdef/dist'), { recursive: true });
  await edit('Serves edited graphs', 'Serves graphs edited twice');
  expect(await help()).toContain('Serves graphs edited twice');
  const after = await compiled();
  expect(after).toHaveLength(1);
  expect(after).not.toContain('0123456789abcdef');
});

it('a start where nothing can be written executes the sources', async () => {
  await rm(join(copy, 'build'), { recursive: true });
  await symlink(join(parent, 'missing'), join(copy, 'build'), 'junction');
  await edit('Serves graphs edited twice', 'Serves graphs of the sources');
  expect(await help()).toContain('Serves graphs of the sources');
});
