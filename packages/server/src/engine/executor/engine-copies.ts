// Compares the engine's packages of a project with those of the server. Graphs run with the server's.
import { readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const packages = ['@langchain/langgraph', '@langchain/core', '@langchain/langgraph-checkpoint'];

/** One sentence for each package that the project has in another version. `file` is a module of the project. */
export const engineDifferences = (file: string): string[] =>
  packages.flatMap((name) => {
    const own = installedFrom(dirname(file), name);
    const used = installedFrom(dirname(fileURLToPath(import.meta.url)), name);
    if (own === undefined || used === undefined || own.version === used.version) return [];
    return [
      `The project has ${name} ${own.version} in ${own.dir}; its graphs run with ${used.version}, the version of the server. ` +
        (majorOf(own.version) < majorOf(used.version)
          ? `Packages of the project that were made for ${own.version}, such as models and agents, fail in runs when they use what ${used.version} no longer has, for example with "this.bind is not a function". ` +
            `Install ${used.version} in the project, and the packages that support it.`
          : `Install ${used.version} in the project, so that both are the same.`),
    ];
  });

const majorOf = (version: string): number => Number.parseInt(version, 10);

const installedFrom = (folder: string, name: string): { dir: string; version: string } | undefined => {
  try {
    const dir = realpathSync(join(folder, 'node_modules', name));
    const { version } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')) as { version: string };
    return { dir, version };
  } catch {
    // Not installed in this folder.
    const parent = dirname(folder);
    return parent === folder ? undefined : installedFrom(parent, name);
  }
};
