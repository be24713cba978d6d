// The compiler checks the new projects.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openCreator, root, templates, type Creator } from './command.ts';

let creator: Creator;
beforeAll(async () => {
  creator = await openCreator();
});
afterAll(() => creator[Symbol.asyncDispose]());

// A project in Python has nothing to compile.
const compiled = templates.filter((template) => template !== 'agent-python');

it.each(compiled)('a project from the template %s type-checks', async (template) => {
  const { folder } = await creator.createInstalled(template);
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const ended = await new Promise<object>((resolve) => {
    execFile(process.execPath, [tsc, '--noEmit'], { cwd: folder }, (error, stdout) =>
      resolve({ code: error?.code ?? 0, stdout }),
    );
  });
  expect(ended).toEqual({ code: 0, stdout: '' });
});
