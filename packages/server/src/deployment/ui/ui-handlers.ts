import type { uiRoutes } from '@svc/contract';
import { notFound } from '@svc/contract/problem';
import { type Handlers, RawBytes, Reply } from '../../api/handlers.ts';
import type { UiBundles } from './ui-bundles.ts';
import { uiHtml } from './ui-html.ts';

/** A URL with the version of the content never changes its content. */
const yearSeconds = 31_536_000;

export const uiHandlers = (
  bundles: UiBundles,
  { isAuthenticated }: { isAuthenticated: boolean },
): Handlers<typeof uiRoutes> => ({
  getUi: async ({ params, body }, { address }) => {
    const bundle = await bundles.get(params.agent);
    return uiHtml({ bundle, url: `${address}/ui/${encodeURIComponent(params.agent)}`, name: body.name });
  },
  getUiFile: async ({ params, query }) => {
    const { files } = await bundles.get(params.agent);
    const file = files.get(params.file);
    if (file === undefined) throw notFound('File', params.file);
    const scope = isAuthenticated ? 'private' : 'public';
    const cacheControl =
      query.v === file.version ? `${scope}, max-age=${yearSeconds}, immutable` : 'no-cache';
    return new Reply(new RawBytes(file.contentType, file.bytes), { cacheControl });
  },
});
