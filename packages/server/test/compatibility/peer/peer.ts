// The open dev server of LangGraph.js, with the versions of package.json and package-lock.json in this folder.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const here = fileURLToPath(new URL('.', import.meta.url));
const cache = fileURLToPath(new URL('../../../../../node_modules/.cache/svc-compatibility', import.meta.url));
const files = ['package.json', 'package-lock.json', 'serve.mjs'];

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Installs the packages unless they are there. Returns the folder; it is named after what is installed in it. */
export const installPeer = async (): Promise<string> => {
  const hash = createHash('sha256');
  for (const file of files) hash.update(await readFile(join(here, file)));
  const folder = join(cache, hash.digest('hex').slice(0, 16));
  if (await exists(folder)) return folder;
  await mkdir(cache, { recursive: true });
  const unfinished = await mkdtemp(join(cache, 'unfinished-'));
  for (const file of files) await cp(join(here, file), join(unfinished, file));
  await promisify(execFile)(
    'npm',
    ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'],
    {
      cwd: unfinished,
    },
  );
  try {
    await rename(unfinished, folder);
  } catch (error) {
    // Another test file has installed them meanwhile.
    await rm(unfinished, { recursive: true, force: true, maxRetries: 5 });
    if (!(await exists(folder))) throw error;
  }
  return folder;
};

/** A copy of the project of these tests that imports the packages of the peer. */
export const copyProject = async (peer: string): Promise<AsyncDisposable & { folder: string }> => {
  const folder = await mkdtemp(join(peer, 'project-'));
  await cp(join(here, '../project'), folder, { recursive: true });
  return {
    folder,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
};

/** Serves the project of a folder. */
export const startPeer = async (
  peer: string,
  folder: string,
  config: string,
): Promise<AsyncDisposable & { url: string }> => {
  const child = spawn(process.execPath, ['--import', 'tsx', join(peer, 'serve.mjs'), config], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: {
      ...process.env,
      NODE_ENV: 'development',
      NO_COLOR: '1',
      // It compiles the project to find types; a busy machine needs more than the default of 30 seconds.
      LANGGRAPH_SCHEMA_RESOLVE_TIMEOUT_MS: '300000',
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-20_000)));
  const exited = once(child, 'exit');
  const failed = exited.then(() => Promise.reject(new Error(`The dev server did not start:\n${output}`)));
  const [{ url }] = (await Promise.race([once(child, 'message'), failed])) as [{ url: string }];
  failed.catch(() => undefined);
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
};
