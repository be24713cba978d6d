import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { startTestApp, ways } from '../test-app.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-guide-'));
afterAll(() => rmSync(folder, { recursive: true }));
const built = join(folder, 'built');
mkdirSync(join(built, 'assets'), { recursive: true });
writeFileSync(join(built, 'index.html'), '<h1>svc</h1>');
writeFileSync(join(built, 'exports.html'), '<h1>Exports</h1>');
writeFileSync(join(built, 'notes.txt'), 'notes');
writeFileSync(join(built, 'assets', 'guide-1.js'), 'start()');
writeFileSync(join(built, 'assets', 'way-1.svg'), '<svg/>');
writeFileSync(join(folder, 'secret.html'), 'secret');
writeFileSync(join(folder, 'secret.js'), 'secret');

const guideFolder = pathToFileURL(`${built}/`);

describe.each(ways)('the guide$way', ({ customApp }) => {
  it('has pages that run no scripts of others and are checked for changes', async () => {
    await using app = await startTestApp({}, { guideFolder, customApp });
    for (const [path, text] of [
      ['', 'svc'],
      ['index.html', 'svc'],
      ['exports.html', 'Exports'],
      ['exports.html?x=1', 'Exports'],
    ]) {
      const page = await fetch(`${app.url}/docs/guide/${path}`);
      expect([path, page.status, await page.text()]).toEqual([path, 200, `<h1>${text}</h1>`]);
      expect(Object.fromEntries(page.headers)).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-cache',
        vary: 'accept-encoding',
        'x-content-type-options': 'nosniff',
        'x-request-id': expect.stringMatching(/./),
      });
      const policy = page.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
    }
  });
});

describe('the guide', () => {
  const guideAt = (url: string, path: string, headers: Record<string, string> = {}) =>
    fetch(`${url}/docs/guide/${path}`, { headers, redirect: 'manual' });

  it('is compressed as the client accepts it; its assets are kept for ever', async () => {
    await using app = await startTestApp({}, { guideFolder });
    for (const [path, type, text] of [
      ['assets/guide-1.js', 'text/javascript; charset=utf-8', 'start()'],
      ['assets/way-1.svg', 'image/svg+xml', '<svg/>'],
    ] as const) {
      const zipped = await guideAt(app.url, path, { 'accept-encoding': 'br, gzip' });
      expect(Object.fromEntries(zipped.headers)).toMatchObject({
        'content-encoding': 'gzip',
        'content-type': type,
        'cache-control': 'public, max-age=31536000, immutable',
      });
      expect(await zipped.text()).toBe(text);
      for (const encoding of ['identity', 'gzip;q=0']) {
        const plain = await guideAt(app.url, path, { 'accept-encoding': encoding });
        expect([plain.headers.get('content-encoding'), await plain.text()]).toEqual([null, text]);
      }
    }
  });

  it('sends a page again only when it has changed', async () => {
    await using app = await startTestApp({}, { guideFolder });
    const file = join(built, 'changing.html');
    writeFileSync(file, 'before');
    const etag = (await guideAt(app.url, 'changing.html')).headers.get('etag') ?? '';
    for (const known of [etag, `"other", ${etag}`, '*']) {
      const same = await guideAt(app.url, 'changing.html', { 'if-none-match': known });
      expect([same.status, same.headers.get('etag'), await same.text()]).toEqual([304, etag, '']);
    }
    writeFileSync(file, 'after');
    utimesSync(file, new Date(), new Date(Date.now() + 5_000));
    const changed = await guideAt(app.url, 'changing.html', { 'if-none-match': etag });
    expect([changed.status, await changed.text()]).toEqual([200, 'after']);
    expect(changed.headers.get('etag')).not.toBe(etag);
  });

  it('answers HEAD with the headers of GET', async () => {
    await using app = await startTestApp({}, { guideFolder });
    const headers = async (method: string) => {
      const response = await fetch(`${app.url}/docs/guide/exports.html`, { method });
      return [response.status, response.headers.get('etag'), response.headers.get('content-type')];
    };
    expect(await headers('HEAD')).toEqual(await headers('GET'));
  });

  it('leads from /docs/guide to /docs/guide/, below the prefix of the server too', async () => {
    await using app = await startTestApp({}, { guideFolder, prefix: '/agents' });
    const page = await fetch(`${app.url}/agents/docs/guide`);
    expect([page.url, page.status]).toEqual([`${app.url}/agents/docs/guide/`, 200]);
    expect((await fetch(`${app.url}/agents/docs/guide/exports.html`)).status).toBe(200);
    expect((await fetch(`${app.url}/docs/guide/exports.html`)).status).toBe(404);
  });

  it('answers 404 for a missing file, 400 for an ambiguous path, and sends nothing of other folders', async () => {
    await using app = await startTestApp({}, { guideFolder });
    const statuses = {
      'none.html': 404,
      [`${'a'.repeat(300)}.html`]: 404,
      [`assets/${'a'.repeat(300)}.js`]: 404,
      exports: 404,
      'notes.txt': 404,
      'assets/': 404,
      'assets/none.js': 404,
      'assets/index.html': 404,
      'assets/..secret.js': 404,
      'exports.html/': 404,
      'EXPORTS.html': 404,
      '..secret.html': 404,
      '%65xports.html': 404,
      'exports.html%00': 404,
      'assets/%2e%2e%2fsecret.js': 400,
      '%2e%2e%2fsecret.html': 400,
      '..%5csecret.html': 400,
    };
    for (const [path, status] of Object.entries(statuses)) {
      const response = await guideAt(app.url, path);
      expect([path, response.status]).toEqual([path, status]);
      expect(await response.text()).not.toBe('secret');
    }
    expect((await fetch(`${app.url}/docs/guide/exports.html`, { method: 'POST' })).status).toBe(404);
  });

  it('says how to build it where it is not built', async () => {
    await using app = await startTestApp({}, { guideFolder: pathToFileURL(`${folder}/none/`) });
    const page = await guideAt(app.url, '');
    expect([page.status, await page.text()]).toEqual([503, expect.stringContaining('npm run build:docs')]);
    expect((await guideAt(app.url, 'exports.html')).status).toBe(404);
  });

  it('is linked from the root, and is not there when the server does not serve it', async () => {
    for (const served of [guideFolder, undefined]) {
      await using app = await startTestApp({}, { guideFolder: served });
      const root = await (await fetch(app.url, { headers: { accept: 'text/html' } })).text();
      const isServed = served !== undefined;
      expect(root.includes('href="/docs/guide/"')).toBe(isServed);
      expect((await guideAt(app.url, '')).status).toBe(isServed ? 200 : 404);
    }
  });

  it('is logged as one route', async () => {
    await using app = await startTestApp({}, { guideFolder });
    await guideAt(app.url, 'exports.html');
    await expect
      .poll(() => app.lines)
      .toContainEqual(expect.objectContaining({ route: '/docs/guide/*', status: 200 }));
  });
});
