// The site of the documentation: README.md, docs/ and bench/. `npm run docs` writes it to build/docs, and fails on dead links.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitepress';

const repository = join(import.meta.dirname, '../../..');
const readme = readFileSync(join(repository, 'README.md'), 'utf8');

/** `| [exports](docs/exports.md) |`: the table of README.md has all pages of docs/ in their order. */
const tableRow = /^\| \[([^\]]+)\]\(([^)]+)\.md\) \|/gm;

const page = (label: string, path: string): { text: string; link: string } => ({
  text: label.charAt(0).toUpperCase() + label.slice(1),
  link: `/${path}`,
});

export default defineConfig({
  title: 'svc',
  description: 'A self-hosted server for LangGraph agents',
  srcDir: repository,
  srcExclude: ['{build,deploy,examples,packages}/**'],
  outDir: join(repository, 'build/docs'),
  cacheDir: join(repository, 'build/docs-cache'),
  rewrites: { 'README.md': 'index.md' },
  // These folders and files of the repository are no pages of the site.
  ignoreDeadLinks: [
    (link) => {
      const path = /^\.\/(?:\.\.\/)?((?:deploy|examples|packages)\b.*)$/.exec(link)?.[1];
      return path !== undefined && [path, `${path}.md`].some((file) => existsSync(join(repository, file)));
    },
    './sharding.sql',
  ],
  markdown: {
    config: (md) => {
      // Vue would evaluate `{{ }}` in code.
      md.core.ruler.push('code', ({ tokens }) => {
        for (const { children } of tokens)
          for (const token of children ?? []) if (token.type === 'code_inline') token.attrSet('v-pre', '');
      });
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: [
      {
        text: 'Guide',
        items: [
          page('start', ''),
          ...[...readme.matchAll(tableRow)].map(([, label = '', path = '']) => page(label, path)),
        ],
      },
      {
        text: 'Project',
        items: [
          page('changes', 'CHANGELOG'),
          page('contributing', 'CONTRIBUTING'),
          page('architecture', 'ARCHITECTURE'),
        ],
      },
    ],
  },
});
