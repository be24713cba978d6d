// Reads exported folders with pandas, where the `python3` of the PATH has it.
import { execFileSync, spawnSync } from 'node:child_process';
import { it } from 'vitest';

/** Why the tests with pandas are not run; undefined when they are. */
export const whyNoPandas = (): string | undefined => {
  const { status } = spawnSync('python3', ['-c', 'import pandas, pyarrow'], { stdio: 'ignore' });
  return status === 0 ? undefined : 'python3 cannot import pandas and pyarrow';
};

export const itInPandas = it.skipIf(whyNoPandas() !== undefined);

/** Runs a Python expression with `frame`, which pandas has read from the folder. Returns its value as JSON. */
export const inPandas = (folder: string, expression: string): unknown => {
  const program = `import json, sys, pandas\nframe = pandas.read_parquet(sys.argv[1])\nprint(json.dumps(${expression}))`;
  return JSON.parse(execFileSync('python3', ['-c', program, folder], { encoding: 'utf8' }));
};
