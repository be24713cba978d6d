// Reads exported folders with pandas, where scripts/install-test-programs.sh has installed it, or the `python3` of the PATH has it.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { it } from 'vitest';

const installed = fileURLToPath(new URL('../../../../build/python/bin/python3', import.meta.url));

const python = existsSync(installed) ? installed : 'python3';

/** Why the tests with pandas are not run; undefined when they are. */
export const whyNoPandas = (): string | undefined => {
  const { status } = spawnSync(python, ['-c', 'import pandas, pyarrow'], { stdio: 'ignore' });
  return status === 0
    ? undefined
    : 'python3 cannot import pandas and pyarrow; on Debian: scripts/install-test-programs.sh pandas';
};

export const itInPandas = it.skipIf(whyNoPandas() !== undefined);

/** Runs a Python expression with `frame`, which pandas has read from the folder. Returns its value as JSON. */
export const inPandas = (folder: string, expression: string): unknown => {
  const program = `import json, sys, pandas\nframe = pandas.read_parquet(sys.argv[1])\nprint(json.dumps(${expression}))`;
  return JSON.parse(execFileSync(python, ['-c', program, folder], { encoding: 'utf8' }));
};
