// The site of this repository: what its readers find, and what its pages load.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { indexSections } from '../src/search-text.ts';
import { buildSite, type Site } from '../src/site.ts';

const repository = join(import.meta.dirname, '../../..');
let site: Site;
beforeAll(async () => {
  site = await buildSite({ repository, isServed: true });
});

const textOf = (path: string): string => String(site.files.get(path));
const html = (): string[] => [...site.files.keys()].filter((path) => path.endsWith('.html'));

describe('the site', () => {
  it('has every page of docs/', () => {
    const docs = readdirSync(join(repository, 'docs')).filter((name) => name.endsWith('.md'));
    expect(docs.length).toBeGreaterThan(30);
    for (const name of docs) expect(html()).toContain(name.replace('.md', '.html'));
  });

  it('lists the pages in the order of the table of README.md, then those on the project', () => {
    const readme = readFileSync(join(repository, 'README.md'), 'utf8');
    const table = [...readme.matchAll(/^\| \[[^\]]+\]\((?:docs\/)?([\w-]+)(?:\/README)?\.md\) \|/gm)];
    const [, list = ''] = /<nav id="pages"[^>]*>(.*?)<\/nav>/s.exec(textOf('exports.html')) ?? [];
    expect([...list.matchAll(/href="([^"]+)"/g)].map(([, href]) => href)).toEqual([
      'index.html',
      ...table.map(([, name]) => `${name}.html`),
      'changelog.html',
      'contributing.html',
      'architecture.html',
    ]);
  });

  it('finds a word of each page', () => {
    const index = indexSections(site.sections);
    for (const { file, sections } of site.pages) {
      const words = sections.flatMap(({ text }) => text.match(/\p{L}{5,}/gu) ?? []);
      const longest = words.toSorted((a, b) => b.length - a.length)[0] ?? '';
      const found = index.search(longest).map(({ id }) => site.sections[id as number]?.href);
      expect([file, longest, found.some((href) => href?.split('#')[0] === file)]).toEqual([
        file,
        longest,
        true,
      ]);
    }
  });

  it('has links to pages and headings that exist', () => {
    const ids = new Map(
      html().map((path) => [path, new Set([...textOf(path).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]),
    );
    const dead = html().flatMap((page) =>
      [...textOf(page).matchAll(/ (?:href|src)="([^"]+)"/g)]
        .map(([, address = '']) => address.replaceAll('&#x26;', '&'))
        .filter((address) => {
          if (/^https?:/.test(address) || address === '../../docs') return false;
          const [path = '', id] = address.split('#');
          const file = path === '' ? page : path;
          return !site.files.has(file) || (id !== undefined && ids.get(file)?.has(id) !== true);
        })
        .map((address) => `${page}: ${address}`),
    );
    expect(dead).toEqual([]);
  });

  it('needs no exception from a strict content security policy', () => {
    for (const path of html()) {
      const page = textOf(path);
      expect([path, page.match(/<script(?! src=")|<style|<iframe| style="| on\w+="|javascript:/g)]).toEqual([
        path,
        null,
      ]);
      const loaded = [...page.matchAll(/<(?:script|img|link)[^>]* (?:src|href)="([^"]+)"/g)].map(
        ([, at]) => at,
      );
      expect(loaded.length).toBeGreaterThan(2);
      for (const address of loaded) expect(address).toMatch(/^assets\//);
    }
    const assets = [...site.files.keys()].filter(
      (path) => /\.(?:css|js)$/.test(path) && !path.includes('search-'),
    );
    for (const path of assets)
      expect([path, /url\(|@import|https?:\/\/(?!www\.w3\.org)/.exec(textOf(path))]).toEqual([path, null]);
  });

  it('is small: less than 600 kB, compressed', () => {
    const bytes = [...site.files.values()].reduce((sum, content) => sum + gzipSync(content).length, 0);
    expect(bytes).toBeGreaterThan(100_000);
    expect(bytes).toBeLessThan(600_000);
  });
});
