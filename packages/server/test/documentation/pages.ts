// The pages of the documentation and their code blocks.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const repository = fileURLToPath(new URL('../../../../', import.meta.url));

export interface Block {
  /** Page and line, for messages. */
  readonly at: string;
  readonly language: string;
  readonly code: string;
  /** Folder to run it in, from `<!-- in: folder -->`; else the folder of the page. */
  readonly folder: string | undefined;
  /** Reason from `<!-- not run: reason -->`. */
  readonly notRun: string | undefined;
}

export interface Page {
  readonly name: string;
  readonly text: string;
  readonly blocks: readonly Block[];
  /** Where a reader of the page works: the example of an example's README, else the root of the checkout. */
  readonly folder: string;
}

const blockPattern = /^(?:<!-- (not run|in): ([^\n]*?) -->\n+)?```([^\n]*)\n([^]*?)^```$/gm;

export const blocksOf = (name: string, text: string): Block[] =>
  [...text.matchAll(blockPattern)].map(({ index, 1: mark, 2: value, 3: language = '', 4: code = '' }) => ({
    at: `${name}:${text.slice(0, index).split('\n').length}`,
    language,
    code,
    folder: mark === 'in' ? value : undefined,
    notRun: mark === 'not run' ? value : undefined,
  }));

const readPage = (name: string): Page => {
  const text = readFileSync(join(repository, name), 'utf8');
  const [, example] = /^(examples\/[^/]+)\/README\.md$/.exec(name) ?? [];
  return { name, text, blocks: blocksOf(name, text), folder: example ?? '.' };
};

const readmesIn = (folder: string): string[] =>
  readdirSync(join(repository, folder))
    .map((name) => `${folder}/${name}/README.md`)
    .filter((name) => existsSync(join(repository, name)));

export const pages: readonly Page[] = [
  'README.md',
  ...readdirSync(join(repository, 'docs')).flatMap((file) => (file.endsWith('.md') ? [`docs/${file}`] : [])),
  ...readmesIn('examples'),
  ...readmesIn('packages'),
].map(readPage);
