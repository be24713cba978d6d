// The HTML that `LoadExternalComponent` adds to its shadow root. It replaces `{{shadowRootId}}` by an id of its own.
import type { UiBundle } from './ui-build.ts';

/** `url`: the folder of the files. */
export const uiHtml = ({ bundle, url, name }: { bundle: UiBundle; url: string; name: string }): string => {
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
