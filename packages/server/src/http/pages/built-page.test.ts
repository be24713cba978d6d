import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { startTestApp } from '../../../test/http-app.ts';
import { sharedFolder } from '../../../test/folders.ts';

const folder = sharedFolder();
const built = join(folder, 'built');
mkdirSync(join(built, 'assets'), { recursive: true });
writeFileSync(join(built, 'index.html'), '<script type="module" src="./assets/index-1.js"></script>');
writeFileSync(join(built, 'reference.html'), '<script src="./assets/reference-1.js"></script>');
writeFileSync(join(built, 'assets', 'index-1.js'), 'start()');
writeFileSync(join(built, 'assets', 'index-1.js.gz'), gzipSync('start()'));
writeFileSync(join(folder, 'secret.js'), 'secret');

const consoleFolder = pathToFileURL(`${built}/`);
const html = { accept: 'text/html,*/*;q=0.8' };

describe('the console', () => {
  it('has one document for all of its paths, which may not be stored or framed', async () => {
    await using app = await startTestApp({}, { consoleFolder });
    for (const path of ['/console', '/console/', '/console/threads/7?tab=runs']) {
      const page = await fetch(app.url + path, { headers: html });
      expect([path, page.status]).toEqual([path, 200]);
      expect(await page.text()).toBe('<script type="module" src="/console/assets/index-1.js"></script>');
      expect(Object.fromEntries(page.headers)).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-request-id': expect.stringMatching(/./),
      });
      const policy = page.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
    }
  });

  it('names its files below the prefix of the server', async () => {
    await using app = await startTestApp({}, { consoleFolder, prefix: '/agents' });
    const page = await (await fetch(`${app.url}/agents/console/runs`, { headers: html })).text();
    expect(page).toContain('src="/agents/console/assets/index-1.js"');
    expect((await fetch(`${app.url}/agents/console/assets/index-1.js`)).status).toBe(200);
    expect((await fetch(`${app.url}/console`, { headers: html })).status).toBe(404);
  });

  it('sends its files compressed as the client accepts it, to be kept for ever', async () => {
    await using app = await startTestApp({}, { consoleFolder });
    const get = (encoding: string) =>
      fetch(`${app.url}/console/assets/index-1.js`, { headers: { 'accept-encoding': encoding } });
    const zipped = await get('br, gzip');
    expect(Object.fromEntries(zipped.headers)).toMatchObject({
      'content-encoding': 'gzip',
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
    });
    expect(await zipped.text()).toBe('start()');
    for (const encoding of ['identity', 'gzip;q=0']) {
      const plain = await get(encoding);
      expect([plain.headers.get('content-encoding'), await plain.text()]).toEqual([null, 'start()']);
    }
  });

  it('answers 404 for a missing file, whatever the client accepts, and sends nothing of other folders', async () => {
    await using app = await startTestApp({}, { consoleFolder });
    for (const path of ['assets/index-2.js', 'assets/index.html', 'assets/..secret.js', 'assets/.js'])
      expect([path, (await fetch(`${app.url}/console/${path}`, { headers: html })).status]).toEqual([
        path,
        404,
      ]);
    expect(
      (await fetch(`${app.url}/console/threads`, { headers: { accept: 'application/json' } })).status,
    ).toBe(404);
    expect((await fetch(`${app.url}/console/assets/%2e%2e%2fsecret.js`)).status).toBe(400);
  });

  it('tells how to build it where it is not built', async () => {
    await using app = await startTestApp({}, { consoleFolder: pathToFileURL(`${folder}/none/`) });
    const page = await fetch(`${app.url}/console`, { headers: html });
    expect([page.status, await page.text()]).toEqual([503, expect.stringContaining('npm run build:console')]);
    expect(await (await fetch(app.url, { headers: html })).text()).toContain('href="/docs"');
  });

  it('is not there when the server does not serve it', async () => {
    await using app = await startTestApp();
    expect((await fetch(`${app.url}/console`, { headers: html })).status).toBe(404);
  });
});

describe('the API reference', () => {
  it('is at /docs below the prefix, with its files, and nothing else is', async () => {
    await using app = await startTestApp({}, { referenceFolder: consoleFolder, prefix: '/agents' });
    const page = await fetch(`${app.url}/agents/docs`, { headers: html });
    expect(await page.text()).toBe('<script src="/agents/docs/assets/reference-1.js"></script>');
    expect((await fetch(`${app.url}/agents/docs/assets/index-1.js`)).status).toBe(200);
    expect((await fetch(`${app.url}/agents/docs/other`, { headers: html })).status).toBe(404);
  });
});

describe('the root', () => {
  it('sends a browser to the console, and no program', async () => {
    await using app = await startTestApp({}, { consoleFolder });
    // fetch() of Node sends a Sec-Fetch-Mode of its own.
    const open = async (headers: Record<string, string>) => {
      const [response] = (await once(get(app.url, { headers }), 'response')) as [IncomingMessage];
      response.resume();
      return [response.statusCode, response.headers.location];
    };
    expect(await open({ ...html, 'sec-fetch-mode': 'navigate' })).toEqual([302, '/console']);
    expect(await open(html)).toEqual([302, '/console']);
    expect(await open({ ...html, 'sec-fetch-mode': 'cors' })).toEqual([200, undefined]);
    expect(await (await fetch(app.url)).json()).toEqual({ ok: true });
  });
});
