// Adds the optional platform packages (binaries for other systems) that npm has left out to the lock files, and the hash (`integrity`) to entries
// without one. `npm ci` requires all of them in the lock file, on every system, and verifies only packages with a hash.
// Run it after changing dependencies: npm run lock
// With --check, it changes nothing, and fails if an entry has no hash.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const systems = ['android', 'darwin', 'freebsd', 'win32', 'openbsd', 'openharmony', 'linux'];
const processors = ['arm64', 'ia32', 'riscv64', 'ppc64', 's390x', 'loong64', 'wasm32', 'x64', 'arm'];
const scopes =
  /^@(duckdb|img|next|oxc-parser|oxc-resolver|oxfmt|oxlint|oxlint-tsgolint|rollup|tailwindcss|typescript)\//;

const first = (words, name) => words.find((word) => name.includes(word));

const read = (file) => JSON.parse(readFileSync(file, 'utf8'));

/** The entries without a hash, as `name@version`. Links and packages inside of others have none. */
const unverified = ({ packages }) =>
  Object.entries(packages)
    .filter(([key, { link, inBundle }]) => key.includes('node_modules/') && !link && !inBundle)
    .filter(([, { integrity }]) => integrity === undefined)
    .map(([key, entry]) => ({ id: `${key.split('node_modules/').at(-1)}@${entry.version}`, entry }));

/** The hashes of packages, from the registry: npm also resolves optional packages that cannot be installed here. */
const hashesOf = (ids) => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-lock-'));
  try {
    const aliases = ids.map((id, index) => [`p${index}`, `npm:${id}`]);
    const project = { name: 'hashes', private: true, optionalDependencies: Object.fromEntries(aliases) };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(project));
    const flags = ['--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund'];
    execFileSync('npm', ['install', ...flags], { cwd: folder, stdio: 'inherit' });
    const { packages } = read(join(folder, 'package-lock.json'));
    return new Map(ids.map((id, index) => [id, packages[`node_modules/p${index}`]?.integrity]));
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const addHashes = (file) => {
  const lock = read(file);
  const found = unverified(lock);
  if (found.length === 0) return;
  const hashes = hashesOf([...new Set(found.map(({ id }) => id))]);
  for (const { id, entry } of found) {
    const { version, ...rest } = entry;
    const integrity = hashes.get(id);
    for (const key of Object.keys(entry)) delete entry[key];
    Object.assign(entry, { version, ...(integrity === undefined ? {} : { integrity }), ...rest });
  }
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
};

const complete = (file) => {
  const lock = read(file);
  for (const entry of Object.values({ ...lock.packages })) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      const key = `node_modules/${name}`;
      if (lock.packages[key] !== undefined || !scopes.test(name)) continue;
      const os = first(systems, name) ?? 'linux';
      const libc = os === 'linux' ? first(['musl', 'gnu'], name) : undefined;
      lock.packages[key] = {
        version,
        cpu: [first(processors, name) ?? 'x64'],
        ...(entry.dev ? { dev: true } : {}),
        license: 'MIT',
        optional: true,
        os: [os],
        ...(libc ? { libc: [libc === 'gnu' ? 'glibc' : 'musl'] } : {}),
        engines: { node: '^20.19.0 || >=22.12.0' },
      };
    }
  }
  lock.packages = Object.fromEntries(
    Object.entries(lock.packages).toSorted(([a], [b]) => a.localeCompare(b, 'en')),
  );
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
};

const folders = [
  '',
  'packages/acceptance/agent-chat-ui/',
  'packages/acceptance/agents/',
  'packages/acceptance/clients/',
  'packages/acceptance/hosts/',
  'packages/acceptance/next/',
  'deploy/test/',
  'packages/server/test/compatibility/peer/',
];
const files = folders.map((folder) => `${folder}package-lock.json`);
const urlOf = (file) => new URL(`../${file}`, import.meta.url);
if (!process.argv.includes('--check'))
  for (const file of files) {
    complete(urlOf(file));
    addHashes(urlOf(file));
  }
const left = files.flatMap((file) => unverified(read(urlOf(file))).map(({ id }) => `${file}: ${id}`));
if (left.length > 0) {
  console.error(
    `These packages have no integrity, so npm ci does not verify them. Run: npm run lock\n${left.join('\n')}`,
  );
  process.exitCode = 1;
}
