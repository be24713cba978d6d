// Writes a project into a folder that is new or empty.
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { projectManifest, type Manifest, type Versions } from './manifest.ts';
import type { Template } from './templates.ts';

/** The user can mend it: shown without a stack. */
export class UsageError extends Error {}

const gitignore = `node_modules/
.svc/
.env
`;

const pythonGitignore = `${gitignore}.venv/
__pycache__/
`;

const tsconfig = {
  compilerOptions: {
    target: 'es2023',
    module: 'nodenext',
    types: ['node'],
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    skipLibCheck: true,
  },
  include: ['**/*.ts'],
};

/** What the template has for the checkout or for a run of its own. */
const leftOut = new Set(['node_modules', '.svc', 'package.json', 'dist', '.venv', '__pycache__']);

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** A name that npm accepts: lower case, digits, `-`, `_` and `.`, beginning with a letter or digit. */
export const packageName = (folder: string): string =>
  basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, 100) || 'agent';

const requireEmpty = async (folder: string): Promise<void> => {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new UsageError(`${folder} cannot be used: ${error.message}`);
  });
  if (names.some((name) => name !== '.git'))
    throw new UsageError(`${folder} is not empty. Choose a new folder, or empty this one.`);
};

/** Throws UsageError for a folder with files in it, before anything is written. */
export const writeProject = async (folder: string, template: Template, versions: Versions): Promise<void> => {
  await requireEmpty(folder);
  await mkdir(folder, { recursive: true });
  await cp(template.folder, folder, { recursive: true, filter: (path) => !leftOut.has(basename(path)) });
  const manifest = JSON.parse(
    await readFile(join(template.folder, 'package.json'), 'utf8'),
  ) as Partial<Manifest>;
  const config = JSON.parse(await readFile(join(template.folder, 'svc.json'), 'utf8')) as object;
  const readme = await readFile(join(template.folder, 'README.md'), 'utf8');
  const { isPython = false } = template;
  const files = {
    // The documentation is in the repository for an example, and in the package of the server for a project.
    'README.md': readme.replaceAll('](../../docs/', '](node_modules/@svc/server/docs/'),
    'package.json': json(projectManifest(packageName(folder), manifest, { ...versions, isPython })),
    'svc.json': json({ ...config, $schema: './node_modules/@svc/server/svc.schema.json' }),
    ...(isPython ? {} : { 'tsconfig.json': json(tsconfig) }),
    '.gitignore': isPython ? pythonGitignore : gitignore,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
};
