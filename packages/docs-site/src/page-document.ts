// The document of a page: the list of pages, the content, the headings of the page, and the way to the next page. It has no scripts and
// styles of its own, so that a content security policy needs no exception.
import type { ElementContent, Root } from 'hast';
import { toHtml } from 'hast-util-to-html';
import { element } from './element.ts';
import type { ParsedPage } from './markdown.ts';
import type { PageEntry } from './page-list.ts';

export interface SiteFrame {
  readonly version: string;
  /** All pages. */
  readonly pages: readonly PageEntry[];
  /** Addresses of the files that every page loads. */
  readonly icon: string;
  readonly style: string;
  readonly script: string;
  /** The texts of all pages, which the script loads when somebody searches. */
  readonly searchText: string;
  /** The site is part of a server: it links to the API reference of the server. */
  readonly isServed: boolean;
}

export const pageDocument = (
  page: PageEntry & ParsedPage,
  content: readonly ElementContent[],
  frame: SiteFrame,
): string => {
  const title = page.file === 'index.html' ? 'svc guide' : `${page.title} · svc guide`;
  const head = element(
    'head',
    {},
    element('meta', { charSet: 'utf-8' }),
    element('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    element('meta', { name: 'color-scheme', content: 'light dark' }),
    element('title', {}, title),
    element('link', { rel: ['icon'], type: 'image/svg+xml', href: frame.icon }),
    element('link', { rel: ['stylesheet'], href: frame.style }),
    element('script', { src: frame.script, defer: true, dataSearch: frame.searchText }),
  );
  const body = element(
    'body',
    {},
    element('a', { className: ['skip'], href: '#content' }, 'Skip to the content'),
    header(frame),
    element(
      'nav',
      { id: 'pages', className: ['pages'], ariaLabel: 'Pages' },
      ...pageLists(page, frame.pages),
    ),
    element('main', { id: 'content', tabIndex: -1 }, ...content, ...neighbours(page, frame.pages)),
    ...outline(page),
  );
  const root: Root = {
    type: 'root',
    children: [{ type: 'doctype' }, element('html', { lang: 'en' }, head, body)],
  };
  return `${toHtml(root)}\n`;
};

const header = ({ version, isServed }: SiteFrame): ElementContent =>
  element(
    'header',
    { className: ['head'] },
    element('a', { className: ['name'], href: 'index.html' }, 'svc guide'),
    element('span', { className: ['version'] }, version),
    // The script adds the buttons of the search and of the list of pages: they do nothing without it.
    element('span', { id: 'tools', className: ['tools'] }),
    ...(isServed ? [element('a', { className: ['reference'], href: '../../docs' }, 'API reference')] : []),
  );

const pageLists = (current: PageEntry, pages: readonly PageEntry[]): ElementContent[] =>
  (['guide', 'project'] as const).map((group) =>
    element(
      'ul',
      {},
      ...pages
        .filter((page) => page.isListed && page.group === group)
        .map(({ file, label }) =>
          element(
            'li',
            {},
            element('a', { href: file, ...(file === current.file ? { ariaCurrent: 'page' } : {}) }, label),
          ),
        ),
    ),
  );

const outline = ({ headings }: Pick<ParsedPage, 'headings'>): ElementContent[] => {
  const sections = headings.filter(({ depth }) => depth === 2 || depth === 3);
  if (sections.length < 2) return [];
  const items = sections.map(({ id, text, depth }) =>
    element('li', { className: [`depth-${depth}`] }, element('a', { href: `#${id}` }, text)),
  );
  return [
    element(
      'nav',
      { className: ['outline'], ariaLabel: 'On this page' },
      element('p', {}, 'On this page'),
      element('ul', {}, ...items),
    ),
  ];
};

const neighbours = (current: PageEntry, pages: readonly PageEntry[]): ElementContent[] => {
  const listed = pages.filter(({ isListed }) => isListed);
  const at = listed.indexOf(current);
  if (at === -1) return [];
  const [previous, next] = [listed[at - 1], listed[at + 1]];
  const link = (page: PageEntry | undefined, rel: string, text: string): ElementContent[] =>
    page ? [element('a', { href: page.file, rel: [rel] }, element('small', {}, text), page.label)] : [];
  return [
    element(
      'nav',
      { className: ['neighbours'], ariaLabel: 'Neighbouring pages' },
      ...link(previous, 'prev', 'Previous'),
      ...link(next, 'next', 'Next'),
    ),
  ];
};
