import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importExport } from './project-export.ts';
import { sharedFolder } from '../../../test/folders.ts';

const dir = sharedFolder();

const exported = async (name: string, code: string, exportName: string) => {
  const file = join(dir, name);
  await writeFile(file, code);
  return importExport({ file, export: exportName, where: 'auth.path', tsconfig: undefined });
};

describe('an export of a project module', () => {
  it.each([
    ['a named export', 'named.mjs', "export const auth = 'it';", 'auth'],
    ['the default of an ES module', 'default.mjs', "export default 'it';", 'default'],
    ['a named export of CommonJS', 'named.cjs', "exports.auth = 'it';", 'auth'],
    ['the exports of CommonJS', 'whole.cjs', "module.exports = 'it';", 'default'],
    ['the default of CommonJS', 'default.cjs', "exports.default = 'it'; exports.other = 1;", 'default'],
  ])('may be %s', async (_, name, code, exportName) => {
    expect(await exported(name, code, exportName)).toBe('it');
  });

  it('is awaited', async () => {
    expect(await exported('promise.mjs', "export const auth = Promise.resolve('it');", 'auth')).toBe('it');
  });

  it('that does not exist is an error that names the exports', async () => {
    await expect(exported('other.mjs', 'export const user = 1;', 'auth')).rejects.toThrow(
      'does not export auth; it exports user',
    );
  });
});
