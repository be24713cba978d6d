// What `npm start` and `npm test` need before anything is installed: installs the packages of the lock file if they are missing or others,
// and builds the console for a server. Uses nothing but Node.
//   node scripts/set-up.mjs            packages
//   node scripts/set-up.mjs --console  packages and console
import { spawnSync } from 'node:child_process';
import { readFileSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

const fail = (message) => {
  process.stderr.write(`${message}\n`);
  process.exit(1);
};

const packagesOf = (file) => {
  try {
    return JSON.parse(readFileSync(join(root, file), 'utf8')).packages;
  } catch (error) {
    if (error.code === 'ENOENT' || error instanceof SyntaxError) return undefined; // not installed, or not completely
    throw error;
  }
};

/** Whether node_modules has the packages of the lock file. npm leaves optional packages of other systems out. */
const isInstalled = () => {
  const installed = packagesOf('node_modules/.package-lock.json');
  if (installed === undefined) return false;
  return Object.entries(packagesOf('package-lock.json')).every(
    ([path, { version, optional, peer, link }]) => {
      if (!path.includes('node_modules/')) return true;
      const found = installed[path];
      return found ? found.version === version : optional === true || peer === true || link === true;
    },
  );
};

/** What npm's errors mean, and what to do. */
const reasons = [
  [/EACCES|EPERM|EROFS/, `this user may not write to ${root}`],
  [
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|network/,
    'the registry cannot be reached; see `npm config get registry`',
  ],
];

/** Of the packages. npm reports no error when the disk is full: it leaves truncated files. */
const installedMb = 1000;

const install = () => {
  const { bavail, bsize } = statfsSync(root);
  const freeMb = Math.floor((bavail * bsize) / 1e6);
  if (freeMb < installedMb)
    fail(`The packages need ${installedMb} MB of free disk space at ${root}; there are ${freeMb} MB.`);
  process.stderr.write('installing the packages of package-lock.json (npm ci)\n');
  const { status, stderr, error } = spawnSync(
    'npm',
    ['ci', '--no-audit', '--no-fund', '--loglevel', 'error'],
    {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'ignore', 'pipe'],
      shell: process.platform === 'win32', // npm is a script there
    },
  );
  if (status === 0) return;
  const text = stderr || String(error);
  const reason = reasons.find(([pattern]) => pattern.test(text))?.[1];
  fail(reason ? `The packages could not be installed: ${reason}.` : text);
};

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19))
  fail(`svc needs Node.js 20.19 or newer; this is ${process.versions.node}.`);
if (!isInstalled()) install();
if (process.argv.includes('--console')) await import('../packages/console/build.mjs');
