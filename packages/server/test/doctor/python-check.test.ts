// svc doctor: the Python interpreter of a project.
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { testFolder } from '../folders.ts';
import { examineInstallation } from './examine-installation.ts';
import { itWithPythonClients, python } from '../python-clients/python.ts';

let dir: string;
beforeEach(() => {
  dir = testFolder();
  writeFileSync(join(dir, 'agent.py'), '');
  writeFileSync(join(dir, 'langgraph.json'), '{"graphs": {"agent": "./agent.py:graph"}}');
});

describe('svc doctor in a Python project', () => {
  itWithPythonClients('names the interpreter and the versions of its packages', async () => {
    const findings = await examineInstallation(dir, { env: { VIRTUAL_ENV: join(python, '../..') } });
    expect(findings.of('python')).toEqual([
      expect.objectContaining({
        status: 'ok',
        message: expect.stringMatching(
          /^Python 3\.\d+\.\d+ \(.*, VIRTUAL_ENV\), langgraph 1\..*langgraph-sdk \d/,
        ),
      }),
    ]);
  });

  it('reports an environment whose Python was removed', async () => {
    mkdirSync(join(dir, '.venv/bin'), { recursive: true });
    symlinkSync(join(dir, 'gone'), join(dir, '.venv/bin/python'));
    const [finding] = (await examineInstallation(dir)).of('python');
    expect(finding).toMatchObject({ status: 'problem', remedy: expect.stringContaining('-m venv .venv') });
    expect(finding?.message).toContain('is a link to a Python that does not exist any more');
  });

  it('checks no interpreter in a project without Python files', async () => {
    rmSync(join(dir, 'agent.py'));
    writeFileSync(join(dir, 'agent.ts'), '');
    writeFileSync(join(dir, 'langgraph.json'), '{"graphs": {"agent": "./agent.ts:graph"}}');
    expect((await examineInstallation(dir)).of('python')).toEqual([]);
  });
});
