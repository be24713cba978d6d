// Checks that folders import only what allowed-imports.ts allows, and that no modules import each other in a circle. Static and dynamic imports
// count, and imports of types too. npm run lint
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { parseSync } from 'oxc-parser';
import { allowedImports } from './allowed-imports.ts';

const root = join(import.meta.dirname, '../..');

/** `packages/server/src/http`, and the folders that it may import. */
const table = new Map(
  Object.entries(allowedImports).flatMap(([name, folders]) =>
    Object.entries(folders).map(([folder, others]) => [
      `packages/${name}/src/${folder}`,
      new Set(others.map((other) => `packages/${name}/src/${other}`)),
    ]),
  ),
);

interface Import {
  line: number;
  /** Path in the repository. */
  to: string;
}

const importsOf = (file: string): Import[] => {
  const text = readFileSync(join(root, file), 'utf8');
  const { staticImports, staticExports, dynamicImports } = parseSync(file, text).module;
  const requests = [
    ...staticImports.map(({ moduleRequest }) => moduleRequest),
    ...staticExports.flatMap(({ entries }) => entries.flatMap(({ moduleRequest }) => moduleRequest ?? [])),
    ...dynamicImports.map(({ moduleRequest }) => ({
      start: moduleRequest.start,
      value: text.slice(moduleRequest.start + 1, moduleRequest.end - 1),
    })),
  ];
  return requests
    .filter(({ value }) => /^\.{1,2}\/.*\.tsx?$/.test(value))
    .map(({ value, start }) => ({
      line: text.slice(0, start).split('\n').length,
      to: posix.join(posix.dirname(file), value),
    }));
};

/** `packages/server/src/http`; the file itself directly below `src`. */
const folderOf = (file: string): string => file.split('/').slice(0, 4).join('/');

const packages = readdirSync(join(root, 'packages')).filter((name) =>
  existsSync(join(root, 'packages', name, 'src')),
);
const files = packages.flatMap((name) => {
  const folder = `packages/${name}/src`;
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => posix.join(folder, path.replaceAll('\\', '/')))
    .filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$|\.d\.ts$/.test(file));
});
const graph = new Map(files.map((file) => [file, importsOf(file)]));
const mistakes: string[] = [];

for (const [file, imports] of graph) {
  const folder = folderOf(file);
  if (folder === file) continue;
  const allowed = table.get(folder);
  for (const { line, to } of imports) {
    const target = folderOf(to);
    if (target === to || target === folder || !to.startsWith('packages/')) continue;
    if (allowed?.has(target) !== true)
      mistakes.push(`${file}:${line} imports ${to}: ${folder} may not import ${target}`);
  }
}

/** Modules on the way from `file` back to itself. */
const findCycles = (): string[][] => {
  const done = new Set<string>();
  const cycles: string[][] = [];
  const visit = (file: string, path: string[]): void => {
    const at = path.indexOf(file);
    if (at !== -1) return void cycles.push([...path.slice(at), file]);
    if (done.has(file)) return;
    for (const { to } of graph.get(file) ?? []) visit(to, [...path, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  return cycles;
};

mistakes.push(...findCycles().map((cycle) => `modules import each other: ${cycle.join(' > ')}`));
for (const mistake of mistakes) console.error(mistake);
process.exit(mistakes.length === 0 ? 0 : 1);
