// The pages that packages/console builds: the console at /console, and the API reference at /docs. Each is one document with its assets.
import { readFile } from 'node:fs/promises';
import { Problem } from '@svc/contract/problem';
import type { Hono } from 'hono';
import type { HttpContext, HttpEnv } from '../routing/call.ts';
import { logAnswer } from '../routing/log-answer.ts';
import type { StartRequestSpan } from '../server/request-log.ts';
import { type HttpLogger, problemResponse } from '../server/problem.ts';

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

// The files that the build of packages/console writes: documents, and assets whose names contain a hash of their content.

interface Encoded {
  body: Buffer<ArrayBuffer>;
  /** `content-encoding`; undefined for the file itself. */
  encoding: 'br' | 'gzip' | undefined;
}

interface Asset extends Encoded {
  type: string;
}

const endings = { br: '.br', gzip: '.gz' } as const;

const types: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

/** The ending of a file whose name contains its hash; undefined for other names. No path separators: a name cannot leave the folder. */
const assetEnding = (name: string): string | undefined =>
  /^[\w-]+(?:\.[\w-]+)*\.(css|js|json|svg)$/.exec(name)?.[1];

/** Undefined when there is no such file, or its name is too long for one. */
const ifThere = async <T>(reading: Promise<T>): Promise<T | undefined> => {
  try {
    return await reading;
  } catch (error) {
    if (['ENOENT', 'ENAMETOOLONG'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
};

/** `header`: `Accept-Encoding`. `br;q=0` refuses an encoding. */
const accepts = (header: string, encoding: string): boolean =>
  header.split(',').some((part) => {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    return name === encoding && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });

class BuiltFiles {
  readonly #folder: URL;
  /** As sent, by name and encoding. An asset never changes, because its name contains its hash. */
  readonly #assets = new Map<string, Encoded>();

  /** `folder` ends with a slash. */
  constructor(folder: URL) {
    this.#folder = folder;
  }

  /** The text of a document; undefined when it is not built. Read each time, because a build replaces it. */
  async findDocument(name: string): Promise<string | undefined> {
    return ifThere(readFile(new URL(name, this.#folder), 'utf8'));
  }

  /** The asset in the best encoding that the client accepts. */
  async findAsset(name: string, acceptEncoding: string): Promise<Asset | undefined> {
    const ending = assetEnding(name);
    if (ending === undefined) return undefined;
    const accepted = (['br', 'gzip'] as const).filter((encoding) => accepts(acceptEncoding, encoding));
    let encoded: Encoded | undefined;
    for (const encoding of [...accepted, undefined]) encoded ??= await this.#find(name, encoding);
    return encoded && { ...encoded, type: types[ending] ?? 'application/json' };
  }

  async #find(name: string, encoding: Encoded['encoding']): Promise<Encoded | undefined> {
    const file = name + (encoding === undefined ? '' : endings[encoding]);
    const known = this.#assets.get(file);
    if (known) return known;
    const body = await ifThere(readFile(new URL(`assets/${file}`, this.#folder)));
    if (body === undefined) return undefined;
    const found = { body, encoding };
    this.#assets.set(file, found);
    return found;
  }
}
