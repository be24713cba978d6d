// All files of the site.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { bundleBrowserCode } from './browser-code.ts';
import { Links } from './links.ts';
import { type ParsedPage, parsePage } from './markdown.ts';
import { pageContent } from './page-content.ts';
import { pageDocument } from './page-document.ts';
import { listPages, type PageEntry } from './page-list.ts';
import type { SearchSection } from './search-text.ts';

export interface SiteOptions {
  /** Folder of the repository. */
  readonly repository: string;
  /**
   * The site is part of a server: it links to the API reference, and has no screenshots, which would be larger than the rest of the site.
   * They show the console, which such a server has itself.
   */
  readonly isServed: boolean;
}

type SitePage = PageEntry & ParsedPage;

export interface Site {
  /** By path: `exports.html`, `assets/guide-….js`. The name of an asset contains a hash of its content. */
  readonly files: ReadonlyMap<string, string | Uint8Array>;
  readonly pages: readonly SitePage[];
  readonly sections: readonly SearchSection[];
}

/** Throws an error that names all dead links. */
export const buildSite = async ({ repository, isServed }: SiteOptions): Promise<Site> => {
  const at = (path: string): string => join(repository, path);
  const pages = readPages(repository);
  const sections = pages.flatMap(searchSections);
  const files = new Map<string, string | Uint8Array>();
  const addAsset = (name: string, content: string | Uint8Array): string => {
    const ending = extname(name);
    const hash = createHash('sha256').update(content).digest('hex').slice(0, 10);
    const path = `assets/${basename(name, ending)}-${hash}${ending}`;
    files.set(path, content);
    return path;
  };
  const { style, script } = await bundleBrowserCode();
  const manifest = JSON.parse(readFileSync(at('packages/server/package.json'), 'utf8')) as {
    version: string;
  };
  const frame = {
    version: manifest.version,
    pages,
    isServed,
    icon: addAsset('icon.svg', readFileSync(join(import.meta.dirname, 'browser/icon.svg'))),
    style: addAsset('guide.css', style),
    script: addAsset('guide.js', script),
    searchText: addAsset('search.js', `globalThis.guideSections=${JSON.stringify(sections)};\n`),
  };
  const links = new Links(pages, (path) => existsSync(at(path)));
  const dead: string[] = [];
  const addressOf = (picture: string): string | undefined =>
    isServed && !picture.endsWith('.svg') ? undefined : addAsset(picture, readFileSync(at(picture)));
  for (const page of pages) {
    const content = pageContent(page, { source: page.source, links, addressOf, dead });
    files.set(page.file, pageDocument(page, content, frame));
  }
  if (dead.length > 0) throw new Error(`These links lead nowhere:\n${dead.join('\n')}`);
  return { files, pages, sections };
};

const readPages = (repository: string): SitePage[] => {
  const read = (path: string): string => readFileSync(join(repository, path), 'utf8');
  const sources = ['docs', 'bench'].flatMap((folder) =>
    readdirSync(join(repository, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  );
  return listPages(read('README.md'), sources).map((entry) => ({
    ...entry,
    ...parsePage(entry.source, read(entry.source)),
  }));
};

const searchSections = ({ file, title, sections }: SitePage): SearchSection[] =>
  sections.map(({ heading, text }, index) => ({
    href: index === 0 ? file : `${file}#${heading.id}`,
    page: title,
    heading: index === 0 ? '' : heading.text,
    text,
  }));
