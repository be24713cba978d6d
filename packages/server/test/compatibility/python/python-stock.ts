// The stock server for Python graphs, in memory, where scripts/install-test-programs.sh has installed it.
//   SVC_TEST_PYTHON_STOCK=required   the tests run, and fail where it is not installed
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe } from 'vitest';
import { until } from '../../eventually.ts';
import { freePort } from '../../faults/free-port.ts';

const environment = fileURLToPath(new URL('../../../../../build/python-stock', import.meta.url));

/** The interpreter that has the stock server, numpy and pandas. */
export const stockPython = join(environment, 'bin/python3');

/** Why the tests with the stock Python server are not run; undefined when they are. */
export const whyNoPythonStock = (): string | undefined =>
  existsSync(stockPython) || process.env['SVC_TEST_PYTHON_STOCK'] === 'required'
    ? undefined
    : 'the stock Python server is not installed; on Debian: scripts/install-test-programs.sh python-stock';

export const describeWithPythonStock = describe.skipIf(whyNoPythonStock() !== undefined);

/** A copy of the project of these tests, whose environment is that of the stock server. */
export const copyPythonProject = async (): Promise<AsyncDisposable & { folder: string }> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-test-'));
  await cp(fileURLToPath(new URL('project', import.meta.url)), folder, { recursive: true });
  await symlink(environment, join(folder, '.venv'));
  return {
    folder,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
};

/** Serves the project of a folder by the stock server. */
export const startPythonStock = async (folder: string): Promise<AsyncDisposable & { url: string }> => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const args = ['dev', '--no-browser', '--no-reload', '--n-jobs-per-worker', '10', '--host', '127.0.0.1'];
  const child = spawn(join(environment, 'bin/langgraph'), [...args, '--port', String(port)], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1', LANGGRAPH_CLI_NO_ANALYTICS: '1', LANGSMITH_TRACING: 'false' },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-20_000)));
  const exited = once(child, 'exit');
  const failed = exited.then(() => Promise.reject(new Error(`The stock server did not start:\n${output}`)));
  const isServing = async (): Promise<boolean> => {
    try {
      return (await fetch(`${url}/ok`)).ok;
    } catch {
      return false; // not yet
    }
  };
  await Promise.race([until(isServing), failed]);
  failed.catch(() => undefined);
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
};
