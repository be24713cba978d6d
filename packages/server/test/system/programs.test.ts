// What the programs of executors and parser threads load when they start.
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { programFile } from '../../src/config/programs.ts';

/** The sources that a compiled module contains, with those of the modules that it imports statically. */
const sourcesOf = async (file: string, seen = new Set<string>()): Promise<string[]> => {
  if (seen.has(file)) return [];
  seen.add(file);
  const text = await readFile(file, 'utf8');
  const sources = [...text.matchAll(/^\/\/ (\S+\.[cm]?[jt]s)$/gm)].map(([, source]) => source ?? '');
  const imports = [...text.matchAll(/^(?:import|\} from) [^;]*?"(\.[^"]+)";$/gm)];
  for (const [, path] of imports) sources.push(...(await sourcesOf(join(dirname(file), path ?? ''), seen)));
  return sources;
};

it.each(['executor', 'parser'])('the %s loads neither zod nor the routes of the contract', async (name) => {
  const dist = join(dirname(programFile('executor.js')), '../dist/app');
  const sources = await sourcesOf(join(dist, `${name}.js`));
  expect(sources).toContain(`packages/server/src/app/${name}.ts`);
  expect(sources).toContain('packages/contract/src/problem.ts');
  expect(sources.filter((source) => /\/zod\/|contract\/src\/(?!problem)/.test(source))).toEqual([]);
});
