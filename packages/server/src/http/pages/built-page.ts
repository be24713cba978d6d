// The pages that packages/console builds: the console at /console, and the API reference at /docs. Each is one document with its assets.
import { Problem } from '@svc/contract/problem';
import type { Hono } from 'hono';
import type { HttpContext, HttpEnv } from '../routing/call.ts';
import { logAnswer } from '../routing/log-answer.ts';
import type { StartRequestSpan } from '../routing/request-span.ts';
import { type HttpLogger, problemResponse } from '../server/problem.ts';
import { type Asset, BuiltFiles } from './built-files.ts';

export interface BuiltPageOptions {
  /** The folder that the build writes; it ends with a slash. */
  folder: URL;
  /** Path before all routes. */
  prefix: string;
  logger: HttpLogger;
  startSpan?: StartRequestSpan | undefined;
  pathOf: (request: Request, env: HttpEnv['Bindings'] | undefined) => string;
  idOf: (context: HttpContext) => string;
}

/** Scripts, styles and requests of this origin only. Images may be in messages, as `data:` URLs. */
const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const pages = {
  /** Its pages are states of the document, so every path that a browser opens below it gets the document. */
  console: { path: '/console', document: 'index.html', hasPaths: true },
  reference: { path: '/docs', document: 'reference.html', hasPaths: false },
};

const fileHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

const notBuilt = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>svc</title>
<h1>This page is not built</h1>
<p>In a checkout of svc, run <code>npm run build:console</code>, and load this page again. The API works without it.</p>
</html>
`;

export class BuiltPage {
  readonly #page: (typeof pages)['console'];
  readonly #files: BuiltFiles;
  readonly #options: BuiltPageOptions;

  constructor(name: keyof typeof pages, options: BuiltPageOptions) {
    this.#page = pages[name];
    this.#files = new BuiltFiles(options.folder);
    this.#options = options;
  }

  /** Each response gets its request id, and is logged. */
  mount(app: Hono<HttpEnv>): void {
    const { path } = this.#page;
    const handle = async (context: HttpContext): Promise<Response> => {
      const startedMs = performance.now();
      const requestId = this.#options.idOf(context);
      const response = await this.#respond(context, requestId);
      response.headers.set('x-request-id', requestId);
      const entry = { route: `${path}/*`, requestId, startedMs, status: response.status };
      logAnswer(context, entry, this.#options);
      return response;
    };
    app.get(path, handle);
    app.get(`${path}/*`, handle);
  }

  /** For a browser that opens `/`: undefined when the request is no navigation, or the page is not built. */
  async redirect({ headers }: Request): Promise<Response | undefined> {
    const { path, document } = this.#page;
    const mode = headers.get('sec-fetch-mode') ?? 'navigate';
    if (mode !== 'navigate' || (await this.#files.findDocument(document)) === undefined) return undefined;
    const location = this.#options.prefix + path;
    return new Response(null, {
      status: 302,
      headers: { location, 'cache-control': 'no-store', ...fileHeaders },
    });
  }

  async #respond(context: HttpContext, requestId: string): Promise<Response> {
    const { pathOf, logger } = this.#options;
    const { path: root, hasPaths } = this.#page;
    const path = pathOf(context.req.raw, context.env).slice(root.length);
    const asset = /^\/assets\/([^/]+)$/.exec(path)?.[1];
    if (asset !== undefined) {
      const found = await this.#files.findAsset(asset, context.req.header('accept-encoding') ?? '');
      if (found) return assetResponse(found);
    } else if (
      path === '' ||
      path === '/' ||
      (hasPaths && context.req.header('accept')?.includes('text/html') === true)
    )
      return this.#document();
    return problemResponse(new Problem('not_found', `${root} has no such file.`), requestId, logger);
  }

  async #document(): Promise<Response> {
    const { path, document } = this.#page;
    const text = await this.#files.findDocument(document);
    const headers = {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': contentPolicy,
      ...fileHeaders,
    };
    if (text === undefined) return new Response(notBuilt, { status: 503, headers });
    // Several paths get this document, so the addresses in it must not be relative.
    const absolute = text.replaceAll('"./assets/', `"${this.#options.prefix}${path}/assets/`);
    return new Response(absolute, { headers });
  }
}

const assetResponse = ({ body, type, encoding }: Asset): Response =>
  new Response(body, {
    headers: {
      'content-type': type,
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
      ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
      ...fileHeaders,
    },
  });
