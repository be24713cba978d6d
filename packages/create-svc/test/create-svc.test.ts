import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const program = join(root, 'packages/create-svc/bin/create-svc.js');
const svc = join(root, 'packages/server/bin/svc.js');
const tsc = join(root, 'node_modules/typescript/bin/tsc');

let parent: string;
beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'create svc '));
});
afterAll(() => rm(parent, { recursive: true, force: true }));

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a program without a terminal, in the parent folder of the projects unless another is named. */
const run = (file: string, args: string[], cwd = parent): Promise<Ended> =>
  new Promise((resolve) => {
    const env = { ...process.env, npm_config_user_agent: 'pnpm/10.0.0 npm/? node/v20' };
    execFile(process.execPath, [file, ...args], { cwd, env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });

const readJson = async (...path: string[]): Promise<Record<string, unknown>> =>
  JSON.parse(await readFile(join(parent, ...path), 'utf8')) as Record<string, unknown>;

describe('create-svc', () => {
  it.each(['agent', 'human-in-the-loop', 'auth'])(
    'creates a project from the template %s that type-checks and whose configuration is valid',
    async (template) => {
      const folder = `My ${template}`;
      expect(await run(program, [folder, '--template', template])).toMatchObject({ code: 0, stderr: '' });
      expect(await readdir(join(parent, folder))).toEqual(
        expect.arrayContaining(['.gitignore', 'README.md', 'package.json', 'svc.json', 'tsconfig.json']),
      );
      expect(await readJson(folder, 'package.json')).toMatchObject({
        name: `my-${template}`,
        scripts: { dev: 'svc dev', start: 'svc start' },
        dependencies: { '@svc/server': '0.1.0' },
      });
      await symlink(join(root, 'node_modules'), join(parent, folder, 'node_modules'));
      const readme = await readFile(join(parent, folder, 'README.md'), 'utf8');
      expect(readme).not.toContain('](../');
      expect(await run(svc, ['config'], join(parent, folder))).toMatchObject({ code: 0 });
      expect(await run(tsc, ['--noEmit'], join(parent, folder))).toMatchObject({ code: 0, stdout: '' });
    },
  );

  it('prints the next commands of the package manager that started it', async () => {
    const { stdout } = await run(program, ['with-pnpm', '--template', 'agent']);
    expect(stdout).toContain('  cd with-pnpm\n  pnpm install\n  pnpm dev\n');
  });

  it('creates my-agent from the template agent with --yes', async () => {
    expect(await run(program, ['--yes'])).toMatchObject({ code: 0 });
    expect(await readJson('my-agent', 'svc.json')).toMatchObject({
      $schema: './node_modules/@svc/server/svc.schema.json',
      graphs: { agent: expect.anything() as unknown },
    });
  });

  it('asks for a folder or --yes where there is no terminal', async () => {
    const { code, stderr } = await run(program, []);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('Name a folder') as string });
  });

  it('leaves a folder with files as it is', async () => {
    const folder = await mkdtemp(join(parent, 'full-'));
    await writeFile(join(folder, 'notes.txt'), 'mine');
    const { code, stderr } = await run(program, [folder, '--yes']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('is not empty') as string });
    expect(await readdir(folder)).toEqual(['notes.txt']);
  });

  it('accepts a folder that has only a Git repository', async () => {
    const folder = await mkdtemp(join(parent, 'repository-'));
    await writeFile(join(folder, '.git'), 'gitdir: elsewhere');
    expect(await run(program, [folder, '--yes'])).toMatchObject({ code: 0 });
  });

  it('names the templates when one is unknown', async () => {
    const { code, stderr } = await run(program, ['other', '--template', 'agents']);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('Allowed choices are agent, human-in-the-loop, auth') as string,
    });
  });

  it('refers to tarballs where it is given a folder of them', async () => {
    expect(await run(program, ['offline', '--yes', '--tarballs', '.'])).toMatchObject({ code: 0 });
    const file = `file:${parent}/svc-server-0.1.0.tgz`;
    expect(await readJson('offline', 'package.json')).toMatchObject({
      dependencies: { '@svc/server': file },
      overrides: { '@svc/server': file, '@svc/contract': `file:${parent}/svc-contract-0.1.0.tgz` },
    });
  });
});
