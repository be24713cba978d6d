// Sends the same requests to this server and to the stock server for Python graphs, and compares the responses. Every difference is
// listed, with its reason: in differences/python.ts, or with those of JavaScript graphs if both have it.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { owning } from '../../../src/app/owned.ts';
import { packageFile } from '../../../src/config/package-files.ts';
import { startTestServer } from '../../server.ts';
import { scaled } from '../../speed.ts';
import { compareSteps, type Difference } from '../compare.ts';
import { listed } from '../differences/all.ts';
import { ListedPatterns } from '../differences/listed-patterns.ts';
import { python } from '../differences/python.ts';
import { Wire } from '../wire.ts';
import { copyPythonProject, describeWithPythonStock, startPythonStock, stockPython } from './python-stock.ts';
import { pythonScenarios } from './scenarios.ts';

const shown = ({ path, ...values }: Difference): string => `${path} ${JSON.stringify(values).slice(0, 500)}`;

describeWithPythonStock('the responses differ from those of the stock Python server only as listed', () => {
  let servers: ({ here: string; there: string } & AsyncDisposable) | undefined;
  beforeAll(async () => {
    servers = await owning(async (owned) => {
      const { folder } = owned.keep(await copyPythonProject());
      const there = owned.keep(await startPythonStock(folder)).url;
      const project = `${folder}/langgraph.json`;
      return { here: owned.keep(await startTestServer({ project, executors: 'ready' })).url, there };
    });
  }, scaled(300_000));
  afterAll(() => servers?.[Symbol.asyncDispose]());

  const shared = new ListedPatterns(Object.values(listed).flat());
  const patterns = new ListedPatterns(python);

  it.for(pythonScenarios)('$name', { timeout: scaled(120_000) }, async (scenario) => {
    const { here, there } = servers ?? { here: '', there: '' };
    const [ours, theirs] = [new Wire(here), new Wire(there)];
    await Promise.all([scenario.run(ours), scenario.run(theirs)]);
    const differences = compareSteps(ours.recorded, theirs.recorded);
    const unlisted = differences.filter((difference) => {
      const isListed = patterns.take(scenario.name, difference);
      return !shared.take(scenario.name, difference) && !isListed;
    });
    expect(unlisted.map(shown)).toEqual([]);
  });

  it('every listed difference of Python graphs occurs', () => {
    expect(patterns.untaken()).toEqual([]);
  });
});

describeWithPythonStock('with numpy and pandas', () => {
  it('arrays and tables are stored and restored', async () => {
    const folder = fileURLToPath(new URL('../../python/unit-arrays', import.meta.url));
    const env = {
      ...process.env,
      PYTHONPATH: fileURLToPath(packageFile('python')),
      PYTHONDONTWRITEBYTECODE: '1',
    };
    const { stderr } = await promisify(execFile)(stockPython, ['-m', 'unittest', 'discover', '-s', folder], {
      cwd: folder,
      env,
    });
    expect(stderr).toMatch(/^OK$/m);
  });
});
