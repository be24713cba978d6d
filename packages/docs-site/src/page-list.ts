// The pages of the guide: README.md, the pages of its table in their order, and the pages on the project itself.

export interface PageEntry {
  /** Path in the repository: `docs/exports.md`. */
  readonly source: string;
  /** File of the site: `exports.html`. All pages are in one folder, so that addresses in them are short and relative. */
  readonly file: string;
  /** In the list of pages. */
  readonly label: string;
  readonly group: 'guide' | 'project';
  /** Other pages are reached by links and by the search. */
  readonly isListed: boolean;
}

const fileOf = (source: string): string =>
  source === 'README.md'
    ? 'index.html'
    : `${source
        .replace(/^docs\//, '')
        .replace(/(?:\/README)?\.md$/, '')
        .replaceAll('/', '-')
        .toLowerCase()}.html`;

const entry = (
  source: string,
  label: string,
  { group = 'guide', isListed = true }: Partial<PageEntry> = {},
): PageEntry => ({
  source,
  file: fileOf(source),
  label: label.charAt(0).toUpperCase() + label.slice(1),
  group,
  isListed,
});

/** `[exports](docs/exports.md)` in the first column. */
const tableRow = /^\| \[([^\]]+)\]\(([^)]+\.md)\) \|/gm;

/** `sources`: the Markdown files that may be pages. Throws when a page of `docs/` has no row in the table. */
export const listPages = (readme: string, sources: readonly string[]): PageEntry[] => {
  const project = { group: 'project' } as const;
  const listed = [
    entry('README.md', 'Start'),
    ...[...readme.matchAll(tableRow)].map(([, label = '', source = '']) => entry(source, label)),
    entry('CHANGELOG.md', 'changes', project),
    entry('CONTRIBUTING.md', 'contributing', project),
    entry('ARCHITECTURE.md', 'architecture', project),
  ];
  const known = new Set(listed.map(({ source }) => source));
  const others = sources.filter((source) => !known.has(source));
  const missing = others.filter((source) => source.startsWith('docs/'));
  if (missing.length > 0)
    throw new Error(`These pages have no row in the table of README.md: ${missing.join(', ')}`);
  const pages = [
    ...listed,
    ...others.map((source) => entry(source, source, { ...project, isListed: false })),
  ];
  const byFile = new Map(pages.map((page) => [page.file, page.source]));
  for (const { file, source } of pages)
    if (byFile.get(file) !== source)
      throw new Error(`${source} and ${byFile.get(file)} would both be ${file}`);
  return pages;
};
