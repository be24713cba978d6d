// The content of a page as HTML: links lead to pages of the site, and what may be wider than the screen can be scrolled by the keyboard.
import type { Element, ElementContent, Root } from 'hast';
import remarkRehype from 'remark-rehype';
import { unified } from 'unified';
import { SKIP, visit } from 'unist-util-visit';
import { markCode } from './code-marks.ts';
import { element } from './element.ts';
import type { Links } from './links.ts';
import type { ParsedPage } from './markdown.ts';

export interface ContentOptions {
  /** The page in the repository: `docs/exports.md`. */
  readonly source: string;
  readonly links: Links;
  /** The address of a picture in the site; undefined when the site leaves it out. */
  readonly addressOf: (picture: string) => string | undefined;
  /** Collects dead links, with the page that has them. */
  readonly dead: string[];
}

const toHtmlTree = unified().use(remarkRehype);

export const pageContent = ({ tree }: ParsedPage, options: ContentOptions): ElementContent[] => {
  const root = toHtmlTree.runSync(structuredClone(tree)) as Root;
  visit(root, { type: 'element', tagName: 'a' }, (node) => link(node, options));
  visit(root, { type: 'element', tagName: 'p' }, (node) => pictures(node, options));
  visit(root, { type: 'element', tagName: 'pre' }, codeBlock);
  visit(root, 'element', anchor);
  visit(root, { type: 'element', tagName: 'table' }, (node, index, parent) => {
    if (index === undefined || !parent) return undefined;
    parent.children[index] = element('div', { className: ['table'], tabIndex: 0 }, node);
    return SKIP;
  });
  return root.children.filter((node) => node.type !== 'doctype');
};

const link = (node: Element, { source, links, addressOf, dead }: ContentOptions): void => {
  const href = String(node.properties['href']);
  const target = links.resolve(source, href);
  switch (target?.kind) {
    case 'address':
      node.properties['href'] = target.href;
      return;
    case 'elsewhere':
      node.properties['rel'] = ['noopener', 'noreferrer'];
      return;
    case 'picture': {
      const address = addressOf(target.path);
      if (address === undefined) nameFile(node, target.path);
      else node.properties['href'] = address;
      return;
    }
    case 'repository':
      nameFile(node, target.path);
      return;
    case undefined:
      dead.push(`${source}: ${href}`);
  }
};

/** The text of a link to a file that readers may not have, with the path of the file. */
const nameFile = (node: Element, path: string): void => {
  const [only] = node.children;
  const isNamed = node.children.length === 1 && only?.type === 'text' && only.value === path;
  node.tagName = 'span';
  node.properties = { className: ['repository-file'] };
  node.children.push(element('small', {}, isNamed ? ' (in the repository)' : ` (${path} in the repository)`));
};

const pictures = (paragraph: Element, { source, links, addressOf, dead }: ContentOptions): void => {
  paragraph.children = paragraph.children.filter((node) => {
    if (node.type !== 'element' || node.tagName !== 'img') return true;
    const path = String(node.properties['src']);
    const target = links.resolve(source, path);
    if (target?.kind !== 'picture') {
      dead.push(`${source}: ${path}`);
      return false;
    }
    const address = addressOf(target.path);
    node.properties['src'] = address;
    node.properties['loading'] = 'lazy';
    return address !== undefined;
  });
};

const codeBlock = (pre: Element): void => {
  pre.properties['tabIndex'] = 0;
  const [code] = pre.children;
  const [text] = code?.type === 'element' ? code.children : [];
  if (code?.type !== 'element' || text?.type !== 'text') return;
  const classes = code.properties['className'];
  const language = Array.isArray(classes) ? String(classes[0]).replace('language-', '') : '';
  code.properties = {};
  code.children = markCode(language, text.value);
};

const anchor = (node: Element): void => {
  if (!/^h[2-4]$/.test(node.tagName)) return;
  const href = `#${String(node.properties['id'])}`;
  node.children.push(element('a', { className: ['anchor'], href, ariaLabel: 'Link to this section' }, '#'));
};
