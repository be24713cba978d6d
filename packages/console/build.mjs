// Builds the console into the folder `console` of @svc/server, and compresses its files.
//   node packages/console/build.mjs              builds when the sources have changed since the last build
//   node packages/console/build.mjs --always     builds
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const folder = import.meta.dirname;
const output = join(folder, '../server/console');
const stampFile = join(output, 'sources.sha256');

const filesBelow = async (path) =>
  (await readdir(path, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();

/** A hash of everything that the build depends on: sources of the console, the SDK and the contract, and the versions of packages. */
const hashSources = async () => {
  const hash = createHash('sha256');
  const sources = ['src', '../sdk/src', '../contract/src'].map((path) => filesBelow(join(folder, path)));
  const single = [
    'index.html',
    'reference.html',
    'vite.config.ts',
    'build.mjs',
    'package.json',
    '../../package-lock.json',
  ];
  for (const file of [...(await Promise.all(sources)).flat(), ...single.map((path) => join(folder, path))])
    hash
      .update(file.slice(folder.length))
      .update('\0')
      .update(await readFile(file))
      .update('\0');
  return hash.digest('hex');
};

const compress = async (file) => {
  const content = await readFile(file);
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
  await writeFile(`${file}.br`, await promisify(brotliCompress)(content, { params }));
  await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }));
};

/** Vite is not there where only the dependencies of production are installed. The server works without the console. */
const loadVite = async () => {
  try {
    return await import('vite');
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || isForced) throw error;
    process.stderr.write(
      'The console is not built, because vite is not installed: npm install --include=dev\n',
    );
    return undefined;
  }
};

const isForced = process.argv.includes('--always');
const stamp = await hashSources();
const previous = existsSync(stampFile) ? await readFile(stampFile, 'utf8') : '';
const vite = previous === stamp && !isForced ? undefined : await loadVite();
if (vite) {
  process.stderr.write('building the console\n');
  const { build } = vite;
  await build({ configFile: join(folder, 'vite.config.ts'), logLevel: 'warn' });
  for (const file of await filesBelow(join(output, 'assets')))
    if (/\.(?:css|js)$/.test(file)) await compress(file);
  // Last, so that an interrupted build is repeated.
  await writeFile(stampFile, stamp);
}
