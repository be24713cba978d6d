// An environment with what Python projects of public repositories install, and with the engine's tests of checkpointers.
//   SVC_TEST_PYTHON_PROJECTS=required   the tests run, and fail where it is not installed
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe } from 'vitest';

export const projectsEnvironment = fileURLToPath(
  new URL('../../../../../build/python-projects', import.meta.url),
);

/** Why the tests with this environment are not run; undefined when they are. */
export const whyNoPythonProjects = (): string | undefined =>
  existsSync(projectsEnvironment) || process.env['SVC_TEST_PYTHON_PROJECTS'] === 'required'
    ? undefined
    : 'the packages of Python projects are not installed; on Debian: scripts/install-test-programs.sh python-projects';

export const describeWithPythonProjects = describe.skipIf(whyNoPythonProjects() !== undefined);
