// Runs programs with the stock Python clients, where scripts/install-test-programs.sh has installed them.
//   SVC_TEST_PYTHON_CLIENTS=required   the tests run, and fail where the clients are not installed
// For another version of Python, or other versions of the packages, build/python-clients may be a link to another environment.
import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { it } from 'vitest';
import { scaled } from '../speed.ts';

/** The interpreter that has the stock clients, langgraph and langchain. */
export const python = fileURLToPath(new URL('../../../../build/python-clients/bin/python3', import.meta.url));

/** Why the tests with the Python clients are not run; undefined when they are. */
export const whyNoPythonClients = (): string | undefined =>
  existsSync(python) || process.env['SVC_TEST_PYTHON_CLIENTS'] === 'required'
    ? undefined
    : 'the Python clients are not installed; on Debian: scripts/install-test-programs.sh python-clients';

/** Why the tests with apps of Starlette and FastAPI are not run; undefined when they are. */
export const whyNoPythonApps = (): string | undefined => {
  const why = whyNoPythonClients();
  if (why !== undefined) return why;
  const isInstalled = spawnSync(python, ['-c', 'import fastapi']).status === 0;
  return isInstalled || process.env['SVC_TEST_PYTHON_CLIENTS'] === 'required'
    ? undefined
    : 'FastAPI is not installed with the Python clients; run scripts/install-test-programs.sh python-clients again';
};

export const itWithPythonClients = it.skipIf(whyNoPythonClients() !== undefined);

/** Runs a program of this folder, which gets a URL and its limit of time in seconds; returns what it has printed, as JSON. */
export const runPython = async (program: string, url: string, ...more: string[]): Promise<unknown> => {
  const file = fileURLToPath(new URL(program, import.meta.url));
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };
  const { stdout } = await promisify(execFile)(python, [file, url, String(scaled(50)), ...more], { env });
  return JSON.parse(stdout);
};
