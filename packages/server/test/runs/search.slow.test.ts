// POST /runs/search: every page of 100,000 runs.
import { afterAll, beforeAll, it } from 'vitest';
import { RunSearchService } from '../../src/deployment/runs/run-search-service.ts';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { runStorage } from '../../src/storage/deployment/runs/runs.ts';
import type { TestDatabase } from '../database.ts';
import { scaled } from '../speed.ts';
import { databaseWithRuns, expectInOrder, walkRuns } from './many-runs.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await databaseWithRuns();
}, scaled(120_000));
afterAll(() => database[Symbol.asyncDispose]());

it.each(['desc', 'asc'] as const)('100,000 runs are returned once each, %s', async (sort_order) => {
  const service = new RunSearchService({ runs: runStorage(database) });
  const { all } = await walkRuns(service, { sort_order, limit: 1_000 }, everyRow);
  expectInOrder(all, 100_000, sort_order);
});
