import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';

const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const { href } = new URL('../../src/app/idle-memory.ts', import.meta.url);

/** Prints the size of the young generation after work, and when it has become small. */
const program = `
import { getHeapSpaceStatistics } from 'node:v8';
import { releaseMemoryWhenIdle } from ${JSON.stringify(href)};
releaseMemoryWhenIdle();
const young = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size;
const kept = [];
while (young() < 16_000_000) {
  kept.push({ text: 'text ' + kept.length });
  if (kept.length > 100_000) kept.length = 0;
}
console.log(young());
while (young() > 4_194_304) await new Promise((resolve) => setTimeout(resolve, 250));
console.log(young());
process.exit();
`;

it('a process whose work has ended gives the memory of its young generation back', async () => {
  const args = ['--import', tsx, '--input-type=module', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const [grown, small] = stdout.trim().split('\n').map(Number);
  expect(grown).toBeGreaterThanOrEqual(16_000_000);
  expect(small).toBeLessThanOrEqual(4_194_304);
});
