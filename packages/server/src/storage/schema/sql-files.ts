// Reads the SQL files in this folder: numbered migrations, and functions that are replaced as a whole. Synchronously, since a server
// reads them before it serves anything: 140 small files take 6 ms, and 50 ms with promises.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { codeFile } from '../../config/package-files.ts';

export interface Migration {
  version: number;
  /** The file's name without `.sql`, such as `0005-exports`. */
  name: string;
  text: string;
  checksum: string;
  /**
   * Set for a contract migration (`NNNN-name.contract.sql`), which removes something: releases without this migration version cannot
   * use the database afterwards. From its `-- serves from: NNNN` line.
   */
  servesFrom: number | undefined;
}

/** All functions of `functions/` as one script. */
export interface FunctionSet {
  names: string[];
  text: string;
  checksum: string;
  /** Grows with every change of `text`, so that an older node does not restore older functions. */
  revision: number;
}

/** The migrations and functions of this release. */
export interface SchemaFiles {
  migrations: Migration[];
  functions: FunctionSet;
}

const at = (path: string): URL => codeFile(`storage/schema/${path}`);

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const readSql = (path: string): string => readFileSync(at(path), 'utf8').replaceAll('\r\n', '\n');

const sqlFilesOf = (folder: string): string[] =>
  readdirSync(at(folder), { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.sql'))
    .toSorted();

const readMigrations = (): Migration[] =>
  sqlFilesOf('migrations/').map((file) => {
    const text = readSql(`migrations/${file}`);
    const name = file.slice(0, -'.sql'.length);
    return {
      version: Number(file.slice(0, 4)),
      name,
      text,
      checksum: sha256(text),
      servesFrom: name.endsWith('.contract') ? servesFrom(name, text) : undefined,
    };
  });

const servesFrom = (name: string, text: string): number => {
  const [, version] = /^-- serves from: (\d{4})$/m.exec(text) ?? [];
  if (version === undefined) throw new Error(`${name}.sql must contain a line "-- serves from: NNNN"`);
  return Number(version);
};

/** The functions in the folder, without their revision. */
export const readFunctionFiles = (): Omit<FunctionSet, 'revision'> => {
  const files = sqlFilesOf('functions/');
  const text = files.map((file) => readSql(`functions/${file}`)).join('\n');
  return { names: files.map((file) => basename(file, '.sql')), text, checksum: sha256(text) };
};

/** `npm run generate` writes the manifest. */
export const readFunctionManifest = (): { revision: number; checksum: string } =>
  JSON.parse(readFileSync(at('functions/manifest.json'), 'utf8')) as {
    revision: number;
    checksum: string;
  };

export const readSchemaFiles = (): SchemaFiles => ({
  migrations: readMigrations(),
  functions: { ...readFunctionFiles(), revision: readFunctionManifest().revision },
});
