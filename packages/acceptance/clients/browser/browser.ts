// The browser of a test file, and the pages that it serves to it from an origin other than the server's.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium as driver, type Browser, type Page } from 'playwright-core';
import { describe } from 'vitest';
import { scaled } from '../../../server/test/speed.ts';
import { chromium, whyNoBrowser } from './availability.ts';

/** Tests that need a browser: reported as not run where there is none. */
export const describeInBrowser = describe.skipIf(whyNoBrowser() !== undefined);

/** Of a launch, and of each wait for a page. */
const timeout = scaled(30_000);

export const openBrowser = (): Promise<Browser> =>
  driver.launch({ executablePath: chromium, timeout, args: ['--no-sandbox', '--disable-dev-shm-usage'] });

/** A page in a context of its own. */
export const openPage = async (browser: Browser): Promise<Page> => {
  const context = await browser.newContext();
  context.setDefaultTimeout(timeout);
  return context.newPage();
};

export interface Site extends AsyncDisposable {
  url: string;
}

/** Serves files by their paths; every other path gets the page itself. */
export const serveSite = async (
  files: Record<string, { type: string; body: string | Buffer }>,
): Promise<Site> => {
  const server = createServer((request, response) => {
    const path = new URL(request.url!, 'http://site').pathname;
    const { type, body } = files[path] ?? files['/']!;
    response.writeHead(200, { 'content-type': type }).end(body);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

export type { Browser, Page } from 'playwright-core';
