import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

/** `maxRetries`: a process that was killed may still write. */
const removal = { recursive: true, force: true, maxRetries: 10 };

const newFolder = (parent: string): string => mkdtempSync(join(parent, 'svc-test-'));

/** A new folder, which is removed after the tests of the file or `describe` that calls this. */
export const sharedFolder = (parent = tmpdir()): string => {
  const folder = newFolder(parent);
  afterAll(() => rm(folder, removal));
  return folder;
};

/** A new folder, which is removed after the test that calls this. */
export const testFolder = (parent = tmpdir()): string => {
  const folder = newFolder(parent);
  onTestFinished(() => rm(folder, removal));
  return folder;
};
