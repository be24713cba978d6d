// A page of the repository as a tree: its headings with their ids, and the text below each of them.
import type { Nodes, Root } from 'mdast';
import { toString } from 'mdast-util-to-string';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { unified } from 'unified';
import { visit } from 'unist-util-visit';
import { HeadingIds } from './heading-id.ts';

export interface Heading {
  readonly id: string;
  readonly text: string;
  readonly depth: number;
}

/** The text from one heading to the next one, for the search. */
export interface Section {
  readonly heading: Heading;
  readonly text: string;
}

export interface ParsedPage {
  readonly tree: Root;
  readonly title: string;
  /** In the order of the page; the first one is its title. */
  readonly headings: readonly Heading[];
  readonly sections: readonly Section[];
}

const parser = unified().use(remarkParse).use(remarkGfm);

/** Words of these nodes may continue in the next node; those of other nodes do not. */
const inline = new Set(['paragraph', 'heading', 'tableCell', 'link', 'strong', 'emphasis', 'delete']);

const wordsOf = (node: Nodes): string => {
  if (node.type === 'html') return '';
  if (!('children' in node)) return toString(node);
  return node.children.map(wordsOf).join(inline.has(node.type) ? '' : ' ');
};

export const parsePage = (source: string, markdown: string): ParsedPage => {
  const tree = parser.parse(markdown);
  // The host of the repository shows HTML, and the guide would not.
  visit(tree, 'html', ({ value, position }) => {
    if (!/^<!--[^]*-->$/.test(value))
      throw new Error(
        `${source}:${position?.start.line ?? 0}: a page of the guide may not contain HTML: ${value}`,
      );
  });
  const ids = new HeadingIds();
  const sections: { heading: Heading; text: string }[] = [];
  for (const node of tree.children) {
    if (node.type === 'heading') {
      const text = toString(node);
      const heading = { id: ids.of(text), text, depth: node.depth };
      node.data = { hProperties: { id: heading.id } };
      sections.push({ heading, text: '' });
    } else {
      const last = sections.at(-1);
      if (!last) throw new Error(`${source} has to begin with a heading`);
      last.text = `${last.text} ${wordsOf(node)}`.replaceAll(/\s+/g, ' ').trim();
    }
  }
  const headings = sections.map(({ heading }) => heading);
  return { tree, title: headings[0]?.text ?? source, headings, sections };
};
