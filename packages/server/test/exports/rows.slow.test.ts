// As a test of rows.test.ts, with more rows and limits.
import { it } from 'vitest';
import { expectEachRowOnce, openRowFiles } from './row-files.ts';

it('the files of an export partition run contain each row once, in order, with any page and file sizes', async () => {
  await using opened = await openRowFiles();
  await expectEachRowOnce(opened, 12);
});
