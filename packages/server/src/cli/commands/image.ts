// svc dockerfile and svc build: images of a project.
import { existsSync, readFileSync } from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';
import type { FlagValues } from '../flags.ts';
import { writeContext } from '../image/context.ts';
import { dockerfileOf, dockerignore } from '../image/dockerfile.ts';
import { readImageProject, type ImageProject } from '../image/image-project.ts';
import { isInside } from '../image/local-packages.ts';
import { ConfigError } from '../../config/project/mistake.ts';

const projectOf = ({ config }: FlagValues): ImageProject =>
  readImageProject(process.cwd(), typeof config === 'string' ? config : undefined);

const baseImageOf = ({ baseImage }: FlagValues): string | undefined =>
  typeof baseImage === 'string' ? baseImage : undefined;

/** Prints the Dockerfile, or the .dockerignore. */
export function printDockerfile(values: FlagValues): void {
  if (values['dockerignore'] === true) return void process.stdout.write(dockerignore);
  const project = projectOf(values);
  const outside = project.tarballs.filter(({ file }) => !isInside(project.root, file));
  if (outside.length > 0)
    throw new ConfigError([
      {
        where: join(project.root, 'package.json'),
        problem: `depends on tarballs that an image build does not see: ${outside.map(({ file }) => file).join(', ')}`,
        remedy: 'Use svc build, which copies them, or move them into the project.',
      },
    ]);
  process.stdout.write(dockerfileOf(project, baseImageOf(values)));
  const remedy = ignoreRemedy(project.root);
  if (remedy !== undefined) console.error(remedy);
}

/** Writes the folder from which the image is built. */
export async function buildContext(values: FlagValues): Promise<void> {
  const project = projectOf(values);
  const { output } = values;
  const folder =
    typeof output === 'string' ? resolve(output) : join(project.root, project.folder, '.svc', 'image');
  await writeContext(project, folder, baseImageOf(values));
  const near = relative('.', folder);
  const shown = near === '' ? '.' : near.startsWith('..') || isAbsolute(near) ? folder : near;
  const quoted = /\s/.test(shown) ? JSON.stringify(shown) : shown;
  console.log(`${shown} has the image context. Build the image: docker build --tag my-agent ${quoted}`);
  const remedy = ignoreRemedy(folder);
  if (remedy !== undefined) console.error(remedy);
}

/** What to do when an image would contain the packages of this machine. */
function ignoreRemedy(root: string): string | undefined {
  const file = join(root, '.dockerignore');
  if (existsSync(file) && readFileSync(file, 'utf8').includes('node_modules')) return undefined;
  const problem = existsSync(file) ? `${file} does not name node_modules` : `${root} has no .dockerignore`;
  return `${problem}: node_modules and .env of this machine would be in the image. svc dockerfile --dockerignore prints what to ignore.`;
}
