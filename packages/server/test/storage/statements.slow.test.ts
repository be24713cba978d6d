// Every statement of storage/ is prepared against the schema, and its columns are compared with the type of its rows.
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { API, type Checker, type Symbol as TypeSymbol } from 'typescript/unstable/sync';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../database.ts';
import { type DeclaredColumn, declaredColumns, type Kind, storedColumns } from './statement-columns.ts';

const repository = fileURLToPath(new URL('../../../..', import.meta.url));
const storage = fileURLToPath(new URL('../../src/storage', import.meta.url));

interface Found {
  place: string;
  text: string;
  symbol: TypeSymbol;
}

const isStatement = (value: object): value is { name: string; text: string } =>
  'text' in value && typeof value.text === 'string' && 'name' in value;

/** The statements in an exported value: itself, or the values of its properties. */
const statementsIn = (value: unknown, symbol: TypeSymbol, place: string, checker: Checker): Found[] => {
  if (typeof value !== 'object' || value === null) return [];
  if (isStatement(value)) return [{ place, text: value.text, symbol }];
  const type = checker.getTypeOfSymbol(symbol);
  if (Array.isArray(value) || type === undefined) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const property = checker.getPropertyOfType(type, name);
    return property === undefined ? [] : statementsIn(member, property, `${place}.${name}`, checker);
  });
};

const differences = (
  stored: ReadonlyMap<string, Kind>,
  declared: ReadonlyMap<string, DeclaredColumn>,
): string[] => {
  const missing = [...declared].filter(([name, { isOptional }]) => !isOptional && !stored.has(name));
  const others = [...stored].flatMap(([name, kind]) => {
    const kinds = declared.get(name)?.kinds;
    if (kinds === undefined) return [`returns ${name}, which its type does not have`];
    return kind === 'json' || kinds.includes(kind)
      ? []
      : [`returns ${name} as ${kind}, not as ${kinds.join(' or ')}`];
  });
  return [...missing.map(([name]) => `does not return ${name}, which its type has`), ...others];
};

let db: TestDatabase;
let client: pg.Client;
const api = new API({ cwd: repository });
let checker: Checker;
let found: Found[];
beforeAll(async () => {
  db = await testDatabase();
  client = new pg.Client({ ...db.options.connection, options: '-c search_path=svc' });
  await client.connect();
  const { program, checker: types } = api
    .updateSnapshot({ openProject: `${repository}/tsconfig.json` })
    .getProjects()[0]!;
  checker = types;
  found = [];
  for (const file of await readdir(storage, { recursive: true })) {
    const path = `${storage}/${file}`;
    if (!/(?<!\.test)\.ts$/.test(file) || !/tatement(<|\()/.test(await readFile(path, 'utf8'))) continue;
    const values = (await import(path)) as Record<string, unknown>;
    const module = checker.getSymbolAtLocation(program.getSourceFile(path)!);
    for (const symbol of module === undefined ? [] : checker.getExportsOfModule(module))
      found.push(...statementsIn(values[symbol.name], symbol, `${file} ${symbol.name}`, checker));
  }
});
afterAll(async () => {
  api.close();
  await client.end();
  await db[Symbol.asyncDispose]();
});

it('every statement is valid, and returns the columns of its row type', async () => {
  const rows = await db.query<{ oid: number }>(
    { text: `select oid::integer from pg_type where typcategory = 'A'` },
    [],
  );
  const arrays = new Set(rows.map(({ oid }) => oid));
  const mistakes: string[] = [];
  for (const { place, text, symbol } of found) {
    const declared = declaredColumns(checker, symbol);
    const stored = await storedColumns(client, text, arrays).catch((error: unknown) => String(error));
    if (typeof stored === 'string') mistakes.push(`${place}: ${stored}`);
    else if (declared !== undefined)
      mistakes.push(...differences(stored, declared).map((difference) => `${place} ${difference}`));
  }
  expect(found.length).toBeGreaterThan(250);
  expect(mistakes).toEqual([]);
});
