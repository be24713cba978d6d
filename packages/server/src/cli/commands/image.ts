// svc dockerfile and svc build: images of a project.
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { copyFile, mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { type FlagValues, textOf } from '../flags.ts';
import { dockerfileOf, dockerignore, leftOut, mark } from '../image/dockerfile.ts';
import { type ImageProject, readImageProject } from '../image/image-project.ts';
import { isInside, withTargets } from '../image/local-packages.ts';
import type { NodePackages } from '../image/node-packages.ts';
import { ConfigError, configError } from '../../config/project/mistake.ts';

const projectOf = (values: FlagValues): ImageProject =>
  readImageProject(process.cwd(), textOf(values, 'config'));

/** Prints the Dockerfile, or the .dockerignore. */
export function printDockerfile(values: FlagValues): void {
  if (values['dockerignore'] === true) return void process.stdout.write(dockerignore);
  const project = projectOf(values);
  const outside = (project.node?.tarballs ?? []).filter(({ file }) => !isInside(project.root, file));
  if (outside.length > 0)
    throw new ConfigError({
      where: join(project.root, 'package.json'),
      problem: `depends on tarballs that an image build does not see: ${outside.map(({ file }) => file).join(', ')}`,
      remedy: 'Use svc build, which copies them, or move them into the project.',
    });
  process.stdout.write(dockerfileOf(project, textOf(values, 'baseImage')));
  warn(project, project.root);
}

/** Writes the folder from which the image is built. */
export async function buildContext(values: FlagValues): Promise<void> {
  const project = projectOf(values);
  const { output } = values;
  const folder =
    typeof output === 'string' ? resolve(output) : join(project.root, project.folder, '.svc', 'image');
  await writeContext(project, folder, textOf(values, 'baseImage'));
  const near = relative('.', folder);
  const shown = near === '' ? '.' : near.startsWith('..') || isAbsolute(near) ? folder : near;
  const quoted = /\s/.test(shown) ? JSON.stringify(shown) : shown;
  console.log(`${shown} has the image context. Build the image: docker build --tag my-agent ${quoted}`);
  warn(project, folder);
}

/** Also says what to do when an image that is built in `folder` would contain the packages of this machine. */
function warn({ node, python, warnings }: ImageProject, folder: string): void {
  for (const warning of warnings) console.error(warning);
  const file = join(folder, '.dockerignore');
  const text = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  const names = [...(node === undefined ? [] : ['node_modules']), ...(python === undefined ? [] : ['.venv'])];
  const missing = names.filter((name) => text?.includes(name) !== true);
  if (missing.length === 0) return;
  const problem =
    text === undefined ? `${folder} has no .dockerignore` : `${file} does not name ${missing.join(', ')}`;
  console.error(
    `${problem}: ${[...missing, '.env'].join(' and ')} of this machine would be in the image. svc dockerfile --dockerignore prints what to ignore.`,
  );
}

// A folder from which an image can be built without anything else: the project, the tarballs that it installs, and a Dockerfile.

/** Names that are not copied, as in the .dockerignore. */
const isLeftOut = (name: string): boolean => leftOut.includes(name) || name.startsWith('.env.');

/** An environment of Python has this file, whatever the name of its folder. */
const isEnvironment = (folder: string): boolean => existsSync(join(folder, 'pyvenv.cfg'));

/** Fills the folder, which may be new, empty or an earlier context. */
export async function writeContext(
  project: ImageProject,
  output: string,
  baseImage: string | undefined,
): Promise<void> {
  const { root, node } = project;
  if (isInside(output, root))
    throw configError(output, 'contains the project', 'Choose another folder with --output.');
  await empty(output);
  await copyTree(root, output, output);
  if (node !== undefined) await copyTarballs(node, output);
  await writeFile(join(output, 'Dockerfile'), dockerfileOf(project, baseImage));
  if (!existsSync(join(output, '.dockerignore')))
    await writeFile(join(output, '.dockerignore'), dockerignore);
}

/** Tarballs from outside of the project get a place in it, which package.json and the lock file name then. */
async function copyTarballs({ root, manager, tarballs }: NodePackages, output: string): Promise<void> {
  for (const { file, target } of tarballs) {
    await mkdir(dirname(join(output, target)), { recursive: true });
    await copyFile(file, join(output, target));
  }
  for (const name of ['package.json', manager.lockFile])
    await writeFile(join(output, name), withTargets(await readFile(join(root, name), 'utf8'), tarballs));
}

async function empty(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const names = await readdir(folder);
  const dockerfile = join(folder, 'Dockerfile');
  const isContext = existsSync(dockerfile) && (await readFile(dockerfile, 'utf8')).startsWith(mark);
  if (names.length > 0 && !isContext)
    throw configError(
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
    if (entry.isDirectory() && isEnvironment(from)) continue;
    if (entry.isDirectory()) await copyTree(from, to, except);
    else if (entry.isSymbolicLink()) await symlink(await readlink(from), to);
    else if (entry.isFile()) await copyFile(from, to);
  }
}
