// Handlers for tests: on a database of the test, with a data folder of their own.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSvcHandler, type SvcHandler, type SvcHandlerOptions } from '../../src/index.ts';
import type { TestDatabase } from '../database.ts';

/** One of each data folder: handlers that share a database need the same one, which has their encryption key. */
export const openDataFolder = async (): Promise<AsyncDisposable & { dataDir: string }> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-embed-'));
  return { dataDir, [Symbol.asyncDispose]: () => rm(dataDir, { recursive: true, force: true }) };
};

export const openHandler = (
  { settings, ...options }: SvcHandlerOptions,
  { database, dataDir }: { database: TestDatabase; dataDir: string },
): Promise<SvcHandler> =>
  createSvcHandler({
    ...options,
    settings: {
      executors: '1',
      logLevel: 'silent',
      rateLimit: 'none',
      databaseUri: database.uri,
      dataDir,
      ...settings,
    },
  });
