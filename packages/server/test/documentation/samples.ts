// Checks of samples that no shell runs: JSON, filters of traces, database URIs, SQL.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { SvcJsonFile } from '../../src/config/project/svc-json-schema.ts';
import { readSvcJson } from '../../src/config/project/svc-json.ts';
import { parseDatabaseUri } from '../../src/config/settings/database-uri.ts';
import { parseFilter } from '../../src/tracing/filter/parse-filter.ts';

const lines = (code: string): string[] => code.split('\n').filter((line) => line.trim() !== '');

/** JSON has to parse. A sample with keys of svc.json also has to load, without a warning. */
export const checkJson = (code: string): void => {
  const value = JSON.parse(code) as Record<string, unknown>;
  if (Object.keys(value).some((key) => Object.hasOwn(SvcJsonFile.shape, key))) checkSvcJson(value);
};

const checkSvcJson = (value: Record<string, unknown>): void => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-docs-json-'));
  try {
    const config = { graphs: { agent: './agent.ts:graph' }, ...value };
    // The files that a sample names.
    for (const [, file = ''] of JSON.stringify(config).matchAll(/"(\.\/[^":]+):\w+"/g)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), '');
    }
    writeFileSync(join(folder, '.env'), '');
    const file = join(folder, 'svc.json');
    writeFileSync(file, JSON.stringify(config));
    const { project, mistakes } = readSvcJson(file, { SVC_WEBHOOK_TOKEN: 'token' });
    const problems = [...mistakes, ...(project?.warnings ?? [])];
    if (problems.length > 0) throw new Error(JSON.stringify(problems));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** One filter in each line. */
export const checkFilters = (code: string): void => {
  for (const line of lines(code)) parseFilter(line);
};

/** One URI in each line. */
export const checkDatabaseUris = (code: string): void => {
  for (const line of lines(code)) {
    const read = parseDatabaseUri(line);
    if ('problem' in read) throw new Error(`${line} ${read.problem}`);
  }
};

/** Runs the statements. Files are looked for below the folder. */
export const runSql = async (code: string, folder: string): Promise<void> => {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  try {
    const quoted = folder.replaceAll("'", "''");
    await connection.run(`set file_search_path = '${quoted}'`);
    await connection.run(code);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
};
