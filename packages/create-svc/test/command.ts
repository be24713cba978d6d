// create-svc in a temporary folder.
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openSession } from '../../server/test/cli/session.ts';
import type { Ended } from '../../server/test/cli/session-program.ts';

export const root = fileURLToPath(new URL('../../..', import.meta.url));

export const templates = ['agent', 'agent-python', 'human-in-the-loop', 'auth'];

export interface Creator extends AsyncDisposable {
  /** The folder of the new projects. */
  parent: string;
  create(...args: string[]): Promise<Ended>;
  /** Creates a project with the packages of this checkout. Returns its folder. */
  createInstalled(template: string): Promise<{ folder: string; ended: Ended }>;
  /** Of a path below the parent folder. */
  readJson(...path: string[]): Promise<Record<string, unknown>>;
}

export const environment = { npm_config_user_agent: 'pnpm/10.0.0 npm/? node/v20' };

export const openCreator = async (): Promise<Creator> => {
  const parent = await mkdtemp(join(tmpdir(), 'create svc '));
  const session = await openSession(new URL('../src/main.ts', import.meta.url));
  const create = (...args: string[]) =>
    session.run([process.execPath, 'create-svc', ...args], { cwd: parent, env: environment });
  return {
    parent,
    create,
    async createInstalled(template) {
      const name = `My ${template}`;
      const ended = await create(name, '--template', template);
      const folder = join(parent, name);
      await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
      return { folder, ended };
    },
    readJson: async (...path) =>
      JSON.parse(await readFile(resolve(parent, ...path), 'utf8')) as Record<string, unknown>,
    async [Symbol.asyncDispose]() {
      await session[Symbol.asyncDispose]();
      await rm(parent, { recursive: true, force: true });
    },
  };
};
