// What the search finds. The build and the browser use the same functions: the build writes the texts, and the browser indexes them when
// somebody searches. An index would be twice as large as the texts, and the results show parts of the texts anyway.
import MiniSearch, { type SearchResult } from 'minisearch';

export interface SearchSection {
  /** `exports.html#progress`. */
  readonly href: string;
  /** Title of the page. */
  readonly page: string;
  /** Empty for the text before the first heading below the title. */
  readonly heading: string;
  readonly text: string;
}

export type SearchIndex = MiniSearch<SearchSection & { id: number }>;

export const indexSections = (sections: readonly SearchSection[]): SearchIndex => {
  const index: SearchIndex = new MiniSearch({
    fields: ['heading', 'page', 'text'],
    searchOptions: {
      boost: { heading: 4, page: 3 },
      combineWith: 'AND',
      prefix: true,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    },
  });
  index.addAll(sections.map((section, id) => ({ ...section, id })));
  return index;
};

export interface Found {
  readonly section: SearchSection;
  /** The part of the text around the first word that was found. */
  readonly excerpt: string;
  /** Words of the section that match, in lower case. */
  readonly words: readonly string[];
}

const resultsMax = 12;
const excerptChars = 150;

export const findSections = (
  index: SearchIndex,
  sections: readonly SearchSection[],
  query: string,
): Found[] =>
  index
    .search(query.slice(0, 200))
    .slice(0, resultsMax)
    .flatMap((result) => {
      const section = sections[result.id as number];
      return section ? [{ section, words: result.terms, excerpt: excerptOf(section.text, result) }] : [];
    });

const excerptOf = (text: string, { terms }: SearchResult): string => {
  const lower = text.toLowerCase();
  const places = terms.map((term) => lower.indexOf(term)).filter((at) => at !== -1);
  const first = places.length === 0 ? 0 : Math.min(...places);
  const start = first < 50 ? 0 : text.lastIndexOf(' ', first - 40) + 1;
  const end = start + excerptChars;
  return `${start > 0 ? '… ' : ''}${text.slice(start, end)}${end < text.length ? ' …' : ''}`;
};
