import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSvcSession } from '../../server/test/cli/session.ts';
import type { Ended } from '../../server/test/cli/session-program.ts';
import { environment, openCreator, templates, type Creator } from './command.ts';

const program = fileURLToPath(new URL('../bin/create-svc.js', import.meta.url));

let creator: Creator;
beforeAll(async () => {
  creator = await openCreator();
});
afterAll(() => creator[Symbol.asyncDispose]());

/** In a process of its own, without a terminal. */
const run = (...args: string[]): Promise<Ended> =>
  new Promise((resolve) => {
    const options = { cwd: creator.parent, env: { ...process.env, ...environment } };
    execFile(process.execPath, [program, ...args], options, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });

describe('create-svc', () => {
  it('creates a project from each template, whose configuration is valid', async () => {
    await using svc = await openSvcSession();
    for (const template of templates) {
      const { folder, ended } = await creator.createInstalled(template);
      expect(ended).toMatchObject({ code: 0, stderr: '' });
      expect(await readdir(folder)).toEqual(
        expect.arrayContaining([
          '.gitignore',
          'README.md',
          'package.json',
          'svc.json',
          template === 'agent-python' ? 'requirements.txt' : 'tsconfig.json',
        ]),
      );
      expect(await creator.readJson(folder, 'package.json')).toMatchObject({
        name: `my-${template}`,
        scripts: { dev: 'svc dev', start: 'svc start' },
        dependencies: { '@svc/server': '0.1.0' },
      });
      expect(await readFile(join(folder, 'README.md'), 'utf8')).not.toContain('](../');
      expect(await svc.run(['config'], { cwd: folder })).toMatchObject({ code: 0 });
    }
  });

  it('prints the next commands of the package manager that started it', async () => {
    const { stdout } = await run('with-pnpm', '--template', 'agent');
    expect(stdout).toContain('  cd with-pnpm\n  pnpm install\n  pnpm dev\n');
  });

  it('prints how the packages of a Python project are installed', async () => {
    const { stdout } = await run('in-python', '--template', 'agent-python');
    expect(stdout).toContain(
      '  cd in-python\n  python3 -m venv .venv && .venv/bin/pip install -r requirements.txt\n  pnpm install\n',
    );
    expect(await creator.readJson('in-python', 'package.json')).not.toHaveProperty('scripts.types');
  });

  it('creates my-agent from the template agent with --yes', async () => {
    expect(await creator.create('--yes')).toMatchObject({ code: 0 });
    expect(await creator.readJson('my-agent', 'svc.json')).toMatchObject({
      $schema: './node_modules/@svc/server/svc.schema.json',
      graphs: { agent: expect.anything() as unknown },
    });
  });

  it('asks for a folder or --yes where there is no terminal', async () => {
    const { code, stderr } = await run();
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('Name a folder') as string });
  });

  it('leaves a folder with files as it is', async () => {
    const folder = await mkdtemp(join(creator.parent, 'full-'));
    await writeFile(join(folder, 'notes.txt'), 'mine');
    const { code, stderr } = await creator.create(folder, '--yes');
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('is not empty') as string });
    expect(await readdir(folder)).toEqual(['notes.txt']);
  });

  it('accepts a folder that has only a Git repository', async () => {
    const folder = await mkdtemp(join(creator.parent, 'repository-'));
    await writeFile(join(folder, '.git'), 'gitdir: elsewhere');
    expect(await creator.create(folder, '--yes')).toMatchObject({ code: 0 });
  });

  it('names the templates when one is unknown', async () => {
    const { code, stderr } = await run('other', '--template', 'agents');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining(
        'Allowed choices are agent, agent-python, human-in-the-loop, auth',
      ) as string,
    });
  });

  it('refers to tarballs where it is given a folder of them', async () => {
    expect(await creator.create('offline', '--yes', '--tarballs', '.')).toMatchObject({ code: 0 });
    const file = `file:${creator.parent}/svc-server-0.1.0.tgz`;
    expect(await creator.readJson('offline', 'package.json')).toMatchObject({
      dependencies: { '@svc/server': file },
      overrides: { '@svc/server': file, '@svc/contract': `file:${creator.parent}/svc-contract-0.1.0.tgz` },
    });
  });
});
