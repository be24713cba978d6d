// The unit tests of svc_executor, which are written in Python.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { packageFile } from '../../src/config/package-files.ts';
import { itWithPythonClients, python } from '../python-clients/python.ts';

itWithPythonClients('the unit tests of svc_executor pass', async () => {
  const folder = fileURLToPath(new URL('unit', import.meta.url));
  const env = {
    ...process.env,
    PYTHONPATH: fileURLToPath(packageFile('python')),
    PYTHONDONTWRITEBYTECODE: '1',
  };
  const { stderr } = await promisify(execFile)(python, ['-m', 'unittest', 'discover', '-s', folder], {
    cwd: folder,
    env,
  });
  expect(stderr).toMatch(/^OK$/m);
});
