// The script of the docs page, as text: it sends the request of a form and shows the response while it arrives.
import { createHash } from 'node:crypto';

export const docsScript = String.raw`
const shownMax = 200_000;
const requestOf = (form) => {
  const headers = {};
  const query = new URLSearchParams();
  let path = form.dataset.path;
  for (const { name, value, dataset } of form.querySelectorAll('input')) {
    if (dataset.in === 'path') path = path.replace('{' + name + '}', encodeURIComponent(value));
    else if (value === '') continue;
    else if (dataset.in === 'header') headers[name] = value;
    else for (const one of dataset.list ? value.split(',') : [value]) query.append(name, one.trim());
  }
  const key = document.getElementById('key').value.trim();
  if (/^bearer /i.test(key)) headers['authorization'] = key;
  else if (key !== '') headers['x-api-key'] = key;
  const body = form.querySelector('textarea')?.value;
  if (body) headers['content-type'] = 'application/json';
  const text = query.toString();
  const url = text === '' ? path : path + '?' + text;
  return [url, { method: form.dataset.method, headers, ...(body ? { body } : {}) }];
};
const indented = (text) => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
};
const show = async (response, output) => {
  const status = response.status + ' ' + response.statusText + '\n\n';
  output.textContent = status;
  if (!response.body) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
    output.textContent = status + text.slice(0, shownMax);
    if (text.length > shownMax) return reader.cancel();
  }
  output.textContent = status + indented(text);
};
document.addEventListener('submit', async (event) => {
  event.preventDefault();
  const output = event.target.querySelector('output');
  output.textContent = 'Sending…';
  try {
    await show(await fetch(...requestOf(event.target)), output);
  } catch (error) {
    output.textContent = String(error);
  }
});
`;

const hash = createHash('sha256').update(docsScript).digest('base64');

/** Allows this script alone, which may send requests to this server alone. */
export const docsPolicy = `default-src 'none'; script-src 'sha256-${hash}'; connect-src 'self'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
