// Runs or checks every code block of README.md, docs/*.md and examples/*/README.md. A block that cannot run in a test has
// `<!-- not run: reason -->` before it; `<!-- in: folder -->` names the folder to run it in.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { consoleRoutes, deploymentRoutes, platformRoutes, type Routes } from '@svc/contract';
import { describe, expect, it } from 'vitest';
import { settingDefinitions } from '../../src/config/settings/definitions.ts';
import type { SettingDefinition } from '../../src/config/settings/setting-type.ts';
import { blocksOf, pages, repository, type Block, type Page } from './pages.ts';
import { whyNoShell } from './programs.ts';
import { checkDatabaseUris, checkFilters, checkJson, runSql } from './samples.ts';
import { openSessions } from './sessions.ts';
import { typeErrors } from './type-check.ts';
import { scaled } from '../speed.ts';
import { fixture } from '../fixture.ts';

/** `text` is what a program prints, or how a path is made: nothing to check. */
const languages = ['sh', 'ts', 'json', 'sql', 'filter', 'uri', 'text'];

const blocksIn = (page: Page, language: string): Block[] =>
  page.blocks.filter((block) => block.language === language && block.notRun === undefined);

const itInShell = it.skipIf(whyNoShell() !== undefined);

const sessions = fixture(() => openSessions());

describe.each(pages)('$name', (page) => {
  it('has only blocks that are checked, or that say why they are not', () => {
    const unknown = page.blocks.filter(
      ({ language, notRun }) => notRun === undefined && !languages.includes(language),
    );
    expect(unknown.map(({ at, language }) => `${at} ${language}`)).toEqual([]);
    expect(page.blocks.filter(({ notRun }) => notRun !== undefined && notRun.length < 10)).toEqual([]);
    expect(page.text.match(/^```/gm)?.length ?? 0).toBe(page.blocks.length * 2);
  });

  const commands = blocksIn(page, 'sh');
  if (commands.length > 0)
    itInShell('has commands that work', { timeout: scaled(240_000) }, async ({ signal }) => {
      await sessions.run(page, commands, signal);
    });

  const statements = blocksIn(page, 'sql');
  itInShell.each(statements)('has SQL that works, at $at', async ({ code }) => {
    await runSql(code, join(sessions.checkout, 'examples/agent/.svc'));
  });

  it('has samples that parse and load', () => {
    const checks = { json: checkJson, filter: checkFilters, uri: checkDatabaseUris };
    for (const [language, check] of Object.entries(checks))
      for (const { at, code } of blocksIn(page, language)) expect(() => check(code), at).not.toThrow();
  });

  it('names settings and routes that exist, and links to pages that exist', () => {
    expect([...unknownVariables(page.text)]).toEqual([]);
    expect([...unknownRoutes(page.text)]).toEqual([]);
    expect([...brokenLinks(page)]).toEqual([]);
  });
});

it('has TypeScript that compiles', { timeout: scaled(240_000) }, async () => {
  const blocks = pages.flatMap((page) => blocksIn(page, 'ts'));
  expect(blocks.length).toBeGreaterThan(5);
  expect(await typeErrors(blocks)).toBe('');
});

it('reads the language, the mark and the line of a block', () => {
  const text =
    'a\n\n<!-- not run: needs root -->\n\n```sh\nmount\n```\n\n<!-- in: examples/agent -->\n\n```sh\nls\n```\n';
  expect(blocksOf('x.md', text)).toMatchObject([
    { at: 'x.md:3', language: 'sh', code: 'mount\n', notRun: 'needs root' },
    { at: 'x.md:9', language: 'sh', code: 'ls\n', folder: 'examples/agent' },
  ]);
});

const variables = new Set([
  ...Object.values<SettingDefinition<unknown>>(settingDefinitions).map(({ variable }) => variable),
  // Of commands that use a running server, of a sample, and the beginning of names in svc.json.
  'SVC_API_URL',
  'SVC_PLATFORM_API_KEY',
  'SVC_WORKSPACE_ID',
  'SVC_WEBHOOK_TOKEN',
  'SVC_WEBHOOK_',
]);

function* unknownVariables(text: string): Generator<string> {
  for (const [name] of text.matchAll(/\bSVC_[A-Z0-9_]+/g)) if (!variables.has(name)) yield name;
}

/** Method and path with `{}` for each parameter. */
const route = (method: string, path: string): string =>
  `${method.toUpperCase()} ${path.replaceAll(/\{[^}]*\}|:\w+/g, '{}')}`;

const routes = new Set(
  Object.values({ ...deploymentRoutes, ...platformRoutes, ...consoleRoutes } as Routes).map(
    ({ method, path }) => route(method, path),
  ),
);

function* unknownRoutes(text: string): Generator<string> {
  for (const [, method = '', path = ''] of text.matchAll(/`(GET|POST|PUT|PATCH|DELETE) (\/[^`?\s]*)[^`]*`/g))
    if (!routes.has(route(method, path))) yield `${method} ${path}`;
}

const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');

function* brokenLinks({ name, text }: Page): Generator<string> {
  for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^https?:/.test(target)) continue;
    const [file = '', anchor] = target.split('#');
    const path = file === '' ? join(repository, name) : join(repository, dirname(name), file);
    if (!existsSync(path)) yield target;
    else if (anchor !== undefined) {
      const linked = pages.find((page) => join(repository, page.name) === path);
      const headings = [...(linked?.text ?? '').matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
        anchorOf(title),
      );
      if (linked !== undefined && !headings.includes(anchor)) yield target;
    }
  }
}
