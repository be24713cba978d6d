// Serves the console below /console. Its pages are states of one document, so every path that a browser opens gets index.html.
import { Problem } from '@svc/contract/problem';
import type { Hono } from 'hono';
import type { HttpContext, HttpEnv } from '../routing/call.ts';
import { problemResponse } from '../server/problem.ts';
import { assetCaching, builtFileHeaders, notBuiltPage } from '../files/built-file.ts';
import { type BuiltFolderOptions, mountBuiltFolder } from '../files/built-folder.ts';
import { ConsoleFiles } from './console-files.ts';

export interface ConsoleOptions extends BuiltFolderOptions {
  /** Path before all routes. */
  prefix: string;
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

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': contentPolicy,
  ...builtFileHeaders,
};

const notBuilt = notBuiltPage('console', 'build:console');

export class Console {
  readonly #files: ConsoleFiles;
  readonly #options: ConsoleOptions;

  constructor(options: ConsoleOptions) {
    this.#options = options;
    this.#files = new ConsoleFiles(options.folder);
  }

  mount(app: Hono<HttpEnv>): void {
    mountBuiltFolder(app, '/console', this.#options, (context, requestId) =>
      this.#respond(context, requestId),
    );
  }

  /** For a browser that opens `/`: undefined when the request is no navigation, or the console is not built. */
  async redirect({ headers }: Request): Promise<Response | undefined> {
    const mode = headers.get('sec-fetch-mode') ?? 'navigate';
    if (mode !== 'navigate' || (await this.#files.findIndex()) === undefined) return undefined;
    const location = `${this.#options.prefix}/console`;
    return new Response(null, {
      status: 302,
      headers: { location, 'cache-control': 'no-store', ...builtFileHeaders },
    });
  }

  async #respond(context: HttpContext, requestId: string): Promise<Response> {
    const { prefix, pathOf, logger } = this.#options;
    const path = pathOf(context.req.raw, context.env).slice('/console'.length);
    const asset = /^\/assets\/([^/]+)$/.exec(path)?.[1];
    if (asset !== undefined) {
      const found = await this.#files.findAsset(asset, context.req.header('accept-encoding') ?? '');
      if (found) return assetResponse(found);
    } else if (path === '' || path === '/' || context.req.header('accept')?.includes('text/html') === true) {
      const index = await this.#files.findIndex();
      if (index === undefined) return new Response(notBuilt, { status: 503, headers: pageHeaders });
      // All paths share the document, so the addresses in it must not be relative.
      const page = index.replaceAll('"./assets/', `"${prefix}/console/assets/`);
      return new Response(page, { headers: pageHeaders });
    }
    return problemResponse(new Problem('not_found', 'The console has no such file.'), requestId, logger);
  }
}

const assetResponse = ({
  body,
  type,
  encoding,
}: NonNullable<Awaited<ReturnType<ConsoleFiles['findAsset']>>>): Response =>
  new Response(body, {
    headers: {
      'content-type': type,
      'cache-control': assetCaching,
      vary: 'accept-encoding',
      ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
      ...builtFileHeaders,
    },
  });
