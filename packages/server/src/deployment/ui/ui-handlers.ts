import type { uiRoutes } from '@svc/contract';
import { notFound } from '@svc/contract/problem';
import { type Handlers, RawBytes, Reply } from '../../api/handlers.ts';
import type { UiBundle } from './ui-build.ts';
import type { UiBundles } from './ui-bundles.ts';

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

/** The HTML that `LoadExternalComponent` adds to its shadow root. It replaces `{{shadowRootId}}` by an id of its own. `url`: the folder of the files. */
const uiHtml = ({ bundle, url, name }: { bundle: UiBundle; url: string; name: string }): string => {
  const { files, globalName } = bundle;
  const link = (file: string, version: string): string => escapeHtml(`${url}/${file}?v=${version}`);
  const tags = [...files].map(([file, { version }]) => {
    if (file.endsWith('.css')) return `<link rel="stylesheet" href="${link(file, version)}" />`;
    const call = `${globalName}.render(${JSON.stringify(name)}, "{{shadowRootId}}")`;
    // In single quotes as on the stock server: clients look for the call in this form.
    return `<script src="${link(file, version)}" onload='${inSingleQuotes(call)}'></script>`;
  });
  // Style sheets first, so that a component is not shown without them.
  return tags.toSorted().join('\n');
};

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

const inSingleQuotes = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll("'", '&#39;').replaceAll('<', '&lt;');
