import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildUi, type UiBuild } from './ui-build.ts';
import { sharedFolder } from '../../../test/folders.ts';

const dir = sharedFolder();

const build = (
  name: string,
  source: string,
  limits: { bytesMax?: number; timeoutMs?: number } = {},
): Promise<UiBuild> => {
  const file = join(dir, name);
  writeFileSync(file, source);
  return buildUi({
    agent: 'agent',
    file,
    dir,
    shared: [],
    timeoutMs: 60_000,
    bytesMax: 1_000_000,
    ...limits,
  });
};

describe('components that cannot be built', () => {
  it('are reported with file, line and cause', async () => {
    const file = join(dir, 'syntax.tsx');
    expect(await build('syntax.tsx', 'export default {\n  a: () => <p>,\n};\n')).toMatchObject({
      failure: expect.stringContaining(`${file}:3:1: The character "}" is not valid`),
      inputs: [file],
    });
    expect(await build('import.tsx', "import x from './missing';\nexport default { x };\n")).toMatchObject({
      failure: `${join(dir, 'import.tsx')}:1:15: Could not resolve "./missing"`,
    });
  });

  it('are reported when the file has no default export', async () => {
    expect(await build('named.tsx', 'export const a = 1;\n')).toMatchObject({
      failure: `${join(dir, 'named.tsx')}: has no default export. Write: export default { name: Component }`,
    });
  });

  it('are reported when the bundle is too large', async () => {
    const source = `export default { a: () => ${JSON.stringify('x'.repeat(2_000))} };\n`;
    expect(await build('large.tsx', source, { bytesMax: 1_000 })).toMatchObject({
      failure: expect.stringMatching(/large\.tsx: the bundle has \d+ bytes, more than 1000/),
    });
  });
});

it('a build names the files that it has read', async () => {
  writeFileSync(join(dir, 'part.ts'), 'export const part = 1;\n');
  const file = join(dir, 'whole.tsx');
  const { inputs } = await build(
    'whole.tsx',
    "import { useState } from 'react';\nimport { part } from './part';\nexport default { part, useState };\n",
  );
  expect(inputs.toSorted()).toEqual([join(dir, 'part.ts'), file]);
});
