// Serves the guide below /docs/guide: static pages, whose addresses are relative, so that they need no prefix.
import { Problem } from '@svc/contract/problem';
import type { Hono } from 'hono';
import { assetCaching, builtFileHeaders, notBuiltPage } from '../files/built-file.ts';
import { type BuiltFolderOptions, mountBuiltFolder } from '../files/built-folder.ts';
import type { HttpContext, HttpEnv } from '../routing/call.ts';
import { problemResponse } from '../server/problem.ts';
import { type GuideFile, GuideFiles } from './guide-files.ts';

/** Scripts, styles and pictures of this origin only. The pages contain none, and need no exception. */
const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const pageHeaders = { 'content-security-policy': contentPolicy, ...builtFileHeaders };

const notBuilt = notBuiltPage('guide', 'build:docs');

export class Guide {
  readonly #files: GuideFiles;
  readonly #options: BuiltFolderOptions;

  constructor(options: BuiltFolderOptions) {
    this.#options = options;
    this.#files = new GuideFiles(options.folder);
  }

  mount(app: Hono<HttpEnv>): void {
    mountBuiltFolder(app, '/docs/guide', this.#options, (context, requestId) =>
      this.#respond(context, requestId),
    );
  }

  async #respond(context: HttpContext, requestId: string): Promise<Response> {
    const { pathOf, logger } = this.#options;
    const path = pathOf(context.req.raw, context.env).slice('/docs/guide'.length);
    // Relative addresses in a page need the slash. The location is relative too: a proxy may serve the server below another path.
    if (path === '')
      return new Response(null, {
        status: 302,
        headers: { location: 'guide/', 'cache-control': 'no-store', ...pageHeaders },
      });
    const name = path === '/' ? 'index.html' : path.slice(1);
    const file = await this.#files.find(name, context.req.header('accept-encoding') ?? '');
    if (file) return fileResponse(file, context.req.header('if-none-match'));
    if (name === 'index.html')
      return new Response(notBuilt, {
        status: 503,
        headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store', ...pageHeaders },
      });
    const missing = new Problem('not_found', 'The guide has no such page. /docs/guide/ lists its pages.');
    return problemResponse(missing, requestId, logger);
  }
}

const fileResponse = (
  { body, type, encoding, etag, isAsset }: GuideFile,
  ifNoneMatch: string | undefined,
): Response => {
  const headers = {
    etag,
    'cache-control': isAsset ? assetCaching : 'no-cache',
    vary: 'accept-encoding',
    ...(isAsset ? builtFileHeaders : pageHeaders),
  };
  if (ifNoneMatch?.split(',').some((tag) => ['*', etag].includes(tag.trim())) === true)
    return new Response(null, { status: 304, headers });
  return new Response(body, {
    headers: {
      ...headers,
      'content-type': type,
      ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
    },
  });
};
