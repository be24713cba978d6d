import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { optimizationFlag } from './process-flags.ts';

it.skipIf(optimizationFlag === undefined)('sets a flag that this version of Node knows as a number', () => {
  const options = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
  const [name = ''] = optimizationFlag?.split('=') ?? [];
  expect(options).toMatch(new RegExp(`^ *${name} \\(.*\\)\\n *type: int `, 'm'));
});
