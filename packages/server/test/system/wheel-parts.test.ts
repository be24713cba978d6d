// What goes into a wheel: the packages of the lock file, and libraries of PostgreSQL without links. npm run test:wheel installs a wheel.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nameLibraries } from '../../../../scripts/build/library-names.ts';
import { lockedPackages } from '../../../../scripts/build/locked-packages.ts';
import { testFolder } from '../folders.ts';

describe('lockedPackages', () => {
  const version = '1.0.0';
  const entries = {
    'packages/server': { version },
    'node_modules/@svc/sdk': { version, link: true },
    'node_modules/a': { version, dev: true, dependencies: { b: '*' }, optionalDependencies: { gone: '*' } },
    'node_modules/a/node_modules/b': { version: '2.0.0', peerDependencies: { c: '*' } },
    'node_modules/b': { version },
    'node_modules/c': {
      version,
      peer: true,
      peerDependencies: { d: '*' },
      peerDependenciesMeta: { d: { optional: true } },
    },
    'node_modules/d': { version },
    'packages/server/node_modules/own': { version },
  };

  it('has what the names need, at its place, as if it was no dependency for development', () => {
    const found = lockedPackages(entries, 'packages/server', ['a', '@svc/sdk']);
    expect(Object.keys(found)).toEqual(['node_modules/a', 'node_modules/a/node_modules/b', 'node_modules/c']);
    expect(found['node_modules/a']).not.toHaveProperty('dev');
    expect(found['node_modules/c']).not.toHaveProperty('peer');
  });

  it('refuses a package that is installed for one package of the checkout alone', () => {
    expect(() => lockedPackages(entries, 'packages/server', ['own'])).toThrow(
      'packages/server/node_modules/own',
    );
  });
});

describe('nameLibraries', () => {
  const folderOf = (files: Record<string, string>, links: [source: string, target: string][]): string => {
    const folder = testFolder();
    const list = links.map(([source, target]) => ({
      source: `native/lib/${source}`,
      target: `native/lib/${target}`,
    }));
    const all = { ...files, 'pg-symlinks.json': JSON.stringify(list) };
    for (const [path, content] of Object.entries(all)) {
      mkdirSync(dirname(join(folder, 'native', path)), { recursive: true });
      writeFileSync(join(folder, 'native', path), content);
    }
    return folder;
  };

  it('gives a library the name by which others load it', async () => {
    const folder = folderOf(
      {
        'lib/libx.so.1.2': 'itself: libx.so.1.2\0',
        'bin/postgres': '…\0libx.so.1\0',
        'lib/liby.so.3.0': 'unused',
      },
      [
        ['libx.so.1.2', 'libx.so'],
        ['libx.so.1.2', 'libx.so.1'],
        ['liby.so.3.0', 'liby.so'],
      ],
    );
    await nameLibraries(folder);
    expect(readdirSync(join(folder, 'native/lib')).toSorted()).toEqual(['libx.so.1', 'liby.so.3.0']);
    expect(existsSync(join(folder, 'native/pg-symlinks.json'))).toBe(false);
  });

  it('leaves a library that is loaded by two names, and the link of the second, which the server creates', async () => {
    const folder = folderOf(
      { 'lib/libx.2.dylib': '', 'bin/postgres': '/libx.2.dylib\0', 'lib/liby.dylib': '/libx.dylib\0' },
      [
        ['libx.2.dylib', 'libx.dylib'],
        ['libx.2.dylib', 'libx.0.dylib'],
      ],
    );
    await nameLibraries(folder);
    expect(readdirSync(join(folder, 'native/lib')).toSorted()).toEqual(['libx.2.dylib', 'liby.dylib']);
    expect(JSON.parse(readFileSync(join(folder, 'native/pg-symlinks.json'), 'utf8'))).toEqual([
      { source: 'native/lib/libx.2.dylib', target: 'native/lib/libx.dylib' },
    ]);
  });
});
