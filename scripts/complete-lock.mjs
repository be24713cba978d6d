// Adds the optional platform packages (binaries for other systems) to the lock files that the registry in use may not have. `npm ci`
// requires all of them in the lock file, on every system.
// Run it after changing dependencies: npm run lock
import { readFileSync, writeFileSync } from 'node:fs';

const systems = ['android', 'darwin', 'freebsd', 'win32', 'openbsd', 'openharmony', 'linux'];
const processors = ['arm64', 'ia32', 'riscv64', 'ppc64', 's390x', 'loong64', 'wasm32', 'x64', 'arm'];
const scopes =
  /^@(duckdb|img|next|oxc-parser|oxc-resolver|oxfmt|oxlint|oxlint-tsgolint|rollup|tailwindcss|typescript)\//;

const first = (words, name) => words.find((word) => name.includes(word));

const complete = (file) => {
  const lock = JSON.parse(readFileSync(file, 'utf8'));
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
  'packages/acceptance/clients/',
  'packages/acceptance/agent-chat-ui/',
  'packages/acceptance/next/',
  'deploy/test/',
  'packages/server/test/compatibility/peer/',
];
for (const folder of folders) complete(new URL(`../${folder}package-lock.json`, import.meta.url));
