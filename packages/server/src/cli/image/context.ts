// A folder from which an image can be built without anything else: the project, the tarballs that it installs, and a Dockerfile.
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ConfigError } from '../../config/project/mistake.ts';
import { dockerfileOf, dockerignore, mark } from './dockerfile.ts';
import type { ImageProject } from './image-project.ts';
import { isInside, withTargets } from './local-packages.ts';

/** Names that are not copied, as in the .dockerignore. */
const isLeftOut = (name: string): boolean =>
  ['node_modules', '.git', '.svc', '.env', '.npmrc'].includes(name) || name.startsWith('.env.');

/** Fills the folder, which may be new, empty or an earlier context. */
export async function writeContext(
  project: ImageProject,
  output: string,
  baseImage: string | undefined,
): Promise<void> {
  const { root, manager, tarballs } = project;
  if (isInside(output, root))
    throw refused(output, 'contains the project', 'Choose another folder with --output.');
  await empty(output);
  await copyTree(root, output, output);
  for (const { file, target } of tarballs) {
    await mkdir(dirname(join(output, target)), { recursive: true });
    await copyFile(file, join(output, target));
  }
  for (const name of ['package.json', manager.lockFile])
    await writeFile(join(output, name), withTargets(await readFile(join(root, name), 'utf8'), tarballs));
  await writeFile(join(output, 'Dockerfile'), dockerfileOf(project, baseImage));
  if (!existsSync(join(output, '.dockerignore')))
    await writeFile(join(output, '.dockerignore'), dockerignore);
}

async function empty(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const names = await readdir(folder);
  const dockerfile = join(folder, 'Dockerfile');
  const isContext = existsSync(dockerfile) && (await readFile(dockerfile, 'utf8')).startsWith(mark);
  if (names.length > 0 && !isContext)
    throw refused(
      folder,
      'is not empty, and svc build did not write it',
      'Choose another folder with --output.',
    );
  for (const name of names) await rm(join(folder, name), { recursive: true, force: true });
}

async function copyTree(source: string, target: string, except: string): Promise<void> {
  await mkdir(target, { recursive: true });
  for (const entry of await readdir(source, { withFileTypes: true })) {
    const from = join(source, entry.name);
    const to = join(target, entry.name);
    if (isLeftOut(basename(from)) || from === except) continue;
    if (entry.isDirectory()) await copyTree(from, to, except);
    else if (entry.isSymbolicLink()) await symlink(await readlink(from), to);
    else if (entry.isFile()) await copyFile(from, to);
  }
}

const refused = (where: string, problem: string, remedy: string): ConfigError =>
  new ConfigError([{ where, problem, remedy }]);
