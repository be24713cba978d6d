// How pages become HTML, in small repositories.
import { describe, expect, it } from 'vitest';
import { buildSite, type Site } from '../src/site.ts';
import { SmallRepository } from './small-repository.ts';

const build = async (files: Record<string, string> = {}, isServed = true): Promise<Site> => {
  using repository = new SmallRepository(files);
  return await buildSite({ repository: repository.path, isServed });
};

/** The content of docs/first.md, without the links to the neighbouring pages. */
const contentOf = ({ files }: Site): string =>
  /<h1[^>]*>.*?<\/h1>\n?(.*?)<nav/s.exec(String(files.get('first.html')))?.[1] ?? '';

const page = (text: string): Record<string, string> => ({ 'docs/first.md': `# First steps\n\n${text}\n` });

describe('a link', () => {
  it.each([
    ['to a page', '[a](../CONTRIBUTING.md)', '<a href="contributing.html">a</a>'],
    ['to a heading', '[a](../CONTRIBUTING.md#rules)', '<a href="contributing.html#rules">a</a>'],
    ['to a heading of its page', '[a](#first-steps)', '<a href="#first-steps">a</a>'],
    ['to the start', '[a](../README.md)', '<a href="index.html">a</a>'],
    ['to a page without a row', '[a](../bench/claims.md)', '<a href="bench-claims.html">a</a>'],
    [
      'to another server',
      '[a](https://example.com/x.md)',
      '<a href="https://example.com/x.md" rel="noopener noreferrer">a</a>',
    ],
    [
      'to a file of the repository',
      '[a](../packages/server/package.json)',
      '<span class="repository-file">a<small> (packages/server/package.json in the repository)</small></span>',
    ],
  ])('%s', async (_, markdown, expected) => {
    expect(contentOf(await build(page(markdown)))).toBe(`<p>${expected}</p>`);
  });

  it('that leads nowhere fails the build, with all others', async () => {
    const text =
      '[a](no.md) [b](../CONTRIBUTING.md#none) [c](../../outside.md) [d](#none) ![e](no.svg) [f](first.md)';
    await expect(build(page(text))).rejects.toThrow(
      'These links lead nowhere:\ndocs/first.md: no.md\ndocs/first.md: ../CONTRIBUTING.md#none\ndocs/first.md: ../../outside.md\n' +
        'docs/first.md: #none\ndocs/first.md: no.svg',
    );
  });
});

describe('a page', () => {
  it('without a row in README.md fails the build', async () => {
    await expect(build({ 'docs/second.md': '# Second\n' })).rejects.toThrow(
      'These pages have no row in the table of README.md: docs/second.md',
    );
  });

  it('with HTML fails the build, and comments are left out', async () => {
    await expect(build(page('<details>x</details>'))).rejects.toThrow(
      'docs/first.md:3: a page of the guide may not',
    );
    expect(contentOf(await build(page('<!-- not run: slow -->\n\nText')))).toBe('<p>Text</p>');
  });

  it('has headings with the ids of the git hosts, also when two have the same text', async () => {
    const { pages } = await build(page('## `GET /runs` & more\n\n## Same\n\n### Same\n'));
    const headings = pages.find(({ file }) => file === 'first.html')?.headings;
    expect(headings?.map(({ id }) => id)).toEqual(['first-steps', 'get-runs--more', 'same', 'same-1']);
  });

  it('marks comments, strings and keywords of samples, and escapes them', async () => {
    const text = '```sh\nfor i in 1; do echo "<b>" http://x/#y # <i>\n```';
    expect(contentOf(await build(page(text)))).toBe(
      '<pre tabindex="0"><code><span class="keyword">for</span> i <span class="keyword">in</span> 1; <span class="keyword">do</span> ' +
        'echo <span class="string">"&#x3C;b>"</span>' +
        ' http://x/#y <span class="comment"># &#x3C;i></span>\n</code></pre>',
    );
  });
});

describe('a picture', () => {
  const files = {
    ...page('![drawn](a.svg)\n\n![taken](console/b.png)'),
    'docs/a.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
    'docs/console/b.png': 'png',
  };

  it('is in the site under a name with its hash', async () => {
    const site = await build(files, false);
    const sources = [...contentOf(site).matchAll(/src="([^"]+)" alt="(\w+)"/g)].map(([, at = '', alt]) => [
      alt,
      at,
    ]);
    expect(sources).toEqual([
      ['drawn', expect.stringMatching(/^assets\/a-[\da-f]{10}\.svg$/)],
      ['taken', expect.stringMatching(/^assets\/b-[\da-f]{10}\.png$/)],
    ]);
    for (const [, at = ''] of sources) expect(site.files.has(at)).toBe(true);
  });

  it('that is a screenshot is not in the site of a server', async () => {
    const site = await build(files);
    expect(contentOf(site)).toContain('alt="drawn"');
    expect(contentOf(site)).not.toContain('taken');
    expect([...site.files.keys()].filter((path) => path.endsWith('.png'))).toEqual([]);
  });
});

it('only the site of a server links to the API reference of the server', async () => {
  for (const isServed of [true, false]) {
    const text = String((await build({}, isServed)).files.get('index.html'));
    expect(text.includes('href="../../docs"')).toBe(isServed);
    expect(text).toContain('7.8.9');
  }
});
