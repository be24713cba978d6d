// The API reference as one HTML page, which works offline: it loads nothing from other servers.
import { docsScript } from './docs-script.ts';

type Node = Record<string, unknown>;

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: Node;
  example?: string | string[];
}

interface Operation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  security: object[];
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: Record<string, { schema: Node; example?: unknown }> };
  responses: Record<string, Answer>;
}

interface Answer {
  /** Names one of the responses that operations share; it is the only member then. */
  $ref?: string;
  description?: string;
  content?: Record<string, { schema: Node }>;
}

interface Components {
  schemas: Record<string, Node>;
  responses: Record<string, Answer>;
}

const escapes: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
export const escapeHtml = (text: unknown): string =>
  String(text).replaceAll(/[&<>"']/g, (char) => escapes[char] ?? char);

const style = `
:root { color-scheme: light dark; --line: light-dark(#ddd, #3a3a3a); --soft: light-dark(#f6f6f4, #1d1d1f); --ink: light-dark(#222, #ddd); --quiet: light-dark(#666, #999) }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0; color: var(--ink); display: grid; grid-template-columns: 17rem minmax(0, 1fr) }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 1.2rem; box-sizing: border-box; border-right: 1px solid var(--line); font-size: 13px }
nav a { display: block; color: inherit; text-decoration: none; padding: .1rem 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
nav a:hover { text-decoration: underline } nav h2 { font-size: 13px; margin: 1rem 0 .2rem }
main { padding: 1.2rem 2.5rem 6rem; max-width: 56rem }
section { border-top: 1px solid var(--line); padding: 1rem 0 }
h3 { margin: 0; font-size: 16px } code, pre { font: 13px/1.45 ui-monospace, monospace }
pre { background: var(--soft); padding: .7rem .9rem; border-radius: 6px; overflow: auto; margin: .5rem 0 }
.method { display: inline-block; min-width: 3.6rem; font-weight: 600; text-transform: uppercase; font-size: 12px }
.get { color: light-dark(#0a6, #4c9) } .post { color: light-dark(#06c, #6af) } .put, .patch { color: light-dark(#a60, #fb5) } .delete { color: light-dark(#c33, #f77) }
table { border-collapse: collapse; width: 100%; font-size: 14px } td { border-top: 1px solid var(--line); padding: .25rem .8rem .25rem 0; vertical-align: top }
.quiet { color: var(--quiet) } label { display: block; margin: .3rem 0 } input, textarea { font: 13px/1.45 ui-monospace, monospace; width: 100%; box-sizing: border-box; padding: .3rem .5rem }
textarea { min-height: 7rem } button { margin: .4rem 0; padding: .3rem .9rem } output { display: block; font: 13px/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 30rem; overflow: auto } summary { cursor: pointer; color: var(--quiet) } a.anchor { color: inherit; text-decoration: none }
@media (max-width: 50rem) { body { display: block } nav { position: static; height: auto; border: 0 } main { padding: 1rem } }`;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const refName = (schema: Node): string | undefined =>
  (schema['$ref'] as string | undefined)?.split('/').pop();

/** A short name of a type. */
const typeOf = (schema: Node): string => {
  const name = refName(schema);
  if (name) return name;
  const choices = (schema['anyOf'] ?? schema['oneOf']) as Node[] | undefined;
  if (choices) return [...new Set(choices.map(typeOf))].join(' | ');
  if (schema['enum']) return (schema['enum'] as unknown[]).map((value) => JSON.stringify(value)).join(' | ');
  if (schema['const'] !== undefined) return JSON.stringify(schema['const']);
  if (schema['type'] === 'array') return `${typeOf((schema['items'] as Node | undefined) ?? {})}[]`;
  return typeof schema['type'] === 'string' ? schema['type'] : 'any';
};

const fields = (schema: Node, components: Record<string, Node>): string => {
  const whole = components[refName(schema) ?? ''] ?? schema;
  const properties = Object.entries((whole['properties'] ?? {}) as Record<string, Node>);
  if (properties.length === 0) return `<p><code>${escapeHtml(typeOf(schema))}</code></p>`;
  const required = new Set((whole['required'] ?? []) as string[]);
  const rows = properties.map(([name, property]) => row(name, property, required.has(name)));
  return `<table>${rows.join('')}</table>`;
};

const parameterRow = ({ name, schema, required, in: place, description }: Parameter): string =>
  row(name, { ...schema, description }, required, place);

/** Text with `code` in it. */
const prose = (text: string): string => escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');

const row = (name: string, schema: Node, isRequired: boolean, where = ''): string =>
  `<tr><td><code>${escapeHtml(name)}</code>${isRequired ? '' : '<span class="quiet">?</span>'}</td>
   <td><code>${escapeHtml(typeOf(schema))}</code> <span class="quiet">${prose([where, textOf(schema['description'])].filter(Boolean).join(' · '))}</span></td></tr>`;

/** An example as text: elements of a list are separated by commas. */
const exampleText = (example: string | string[] = ''): string => [example].flat().join(',');

const bodyOf = ({ requestBody }: Operation): { schema: Node; example?: unknown } | undefined =>
  requestBody?.content['application/json'];

/** The request as a command for a POSIX shell. Values that have no example are shell variables. */
const curl = (server: string, method: string, path: string, operation: Operation): string => {
  const { parameters = [], security, responses } = operation;
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const example = parameters.find((one) => one.name === name)?.example;
    return example === undefined ? `$${name}` : encodeURIComponent(exampleText(example));
  });
  const query = parameters
    .filter((one) => one.in === 'query' && (one.required || one.example !== undefined))
    .flatMap((one) => [one.example ?? `$${one.name}`].flat().map((value) => `${one.name}=${value}`));
  const example = bodyOf(operation)?.example;
  const isStream = responses['200']?.content?.['text/event-stream'] !== undefined;
  const needsKey = security.length > 0 && security.every((one) => 'apiKey' in one);
  return [
    `curl -s${isStream ? 'N' : ''}`,
    ...(method === 'get' ? [] : [`-X ${method.toUpperCase()}`]),
    `"${server}${filled}${query.length > 0 ? `?${query.join('&')}` : ''}"`,
    ...(needsKey ? ['-H "x-api-key: $SVC_KEY"'] : []),
    ...(example === undefined
      ? []
      : [
          `-H 'content-type: application/json'`,
          `-d '${JSON.stringify(example).replaceAll("'", String.raw`'\''`)}'`,
        ]),
  ].join(' ');
};

const isList = ({ type, anyOf = [] }: Node & { anyOf?: Node[] }): boolean =>
  type === 'array' || anyOf.some((one) => one['type'] === 'array');

/** A form that sends the request to this server. */
const tryIt = (method: string, path: string, operation: Operation): string => {
  const inputs = (operation.parameters ?? []).map(
    ({ name, in: place, required, schema, example }) =>
      `<label><code>${escapeHtml(name)}</code> <span class="quiet">${place}${isList(schema) ? ', separated by commas' : ''}</span>
<input name="${escapeHtml(name)}" data-in="${place}"${isList(schema) ? ' data-list="1"' : ''}${required ? ' required' : ''} value="${escapeHtml(exampleText(example))}"></label>`,
  );
  const body = bodyOf(operation);
  const text = body?.example === undefined ? '' : JSON.stringify(body.example, null, 2);
  const area = body ? `<label>Body <textarea spellcheck="false">${escapeHtml(text)}</textarea></label>` : '';
  return `<details><summary>Try it</summary><form data-method="${escapeHtml(method.toUpperCase())}" data-path="${escapeHtml(path)}">
${inputs.join('')}${area}<button>Send</button><output></output></form></details>`;
};

const section = (
  server: string,
  method: string,
  path: string,
  operation: Operation,
  components: Components,
): string => {
  const { operationId, description, parameters = [], requestBody, responses } = operation;
  const body = bodyOf(operation)?.schema;
  const isUpload =
    requestBody !== undefined && body?.['type'] === undefined && Object.keys(body ?? {}).length === 0;
  const answers = Object.entries(responses).map(([status, given]) => {
    const response = components.responses[refName({ ...given }) ?? ''] ?? given;
    const [type, content] = Object.entries(response.content ?? {})[0] ?? [];
    const shape =
      content && Number(status) < 300
        ? ` <code>${escapeHtml(typeOf(content.schema))}</code> <span class="quiet">${escapeHtml(type)}</span>`
        : '';
    return `<tr><td><code>${escapeHtml(status)}</code></td><td>${escapeHtml(response.description)}${shape}</td></tr>`;
  });
  return `<section id="${escapeHtml(operationId)}">
<h3><a class="anchor" href="#${escapeHtml(operationId)}"><span class="method ${escapeHtml(method)}">${escapeHtml(method)}</span> <code>${escapeHtml(path)}</code></a></h3>
<p>${prose(description)}</p>
${parameters.length > 0 ? `<table>${parameters.map(parameterRow).join('')}</table>` : ''}
${body ? `<h4>Body</h4>${fields(body, components.schemas)}` : ''}
${isUpload ? '' : `<pre>${escapeHtml(curl(server, method, path, operation))}</pre>${tryIt(method, path, operation)}`}
<details><summary>Responses</summary><table>${answers.join('')}</table></details>
</section>`;
};

/** The page for an OpenAPI document. Its requests go to the server that the document names. `hasGuide`: link to the guide of this server. */
export const docsPage = (document: Node, hasGuide: boolean): string => {
  const { info, servers, paths, components } = document as {
    info: { title: string; version: string; description: string };
    servers: { url: string }[];
    paths: Record<string, Record<string, Operation>>;
    components: Components;
  };
  const server = servers[0]?.url ?? '';
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const tags = [...new Set(operations.flatMap(({ operation }) => operation.tags))];
  const of = (tag: string) => operations.filter(({ operation }) => operation.tags.includes(tag));
  const links = tags.map(
    (tag) =>
      `<h2>${escapeHtml(tag)}</h2>${of(tag)
        .map(
          ({ method, path, operation }) =>
            `<a href="#${escapeHtml(operation.operationId)}"><span class="method ${escapeHtml(method)}">${escapeHtml(method)}</span>${escapeHtml(path.replaceAll(/\{\w+\}/g, '{…}'))}</a>`,
        )
        .join('')}`,
  );
  const sections = tags.map(
    (tag) =>
      `<h2>${escapeHtml(tag)}</h2>${of(tag)
        .map(({ method, path, operation }) => section(server, method, path, operation, components))
        .join('')}`,
  );
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) =>
      `<section id="schema-${escapeHtml(name)}"><h3><code>${escapeHtml(name)}</code></h3><p class="quiet">${escapeHtml(schema['description'] ?? '')}</p>${fields(schema, components.schemas)}</section>`,
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(info.title)}</title><style>${style}</style></head>
<body><nav><strong>${escapeHtml(info.title)}</strong> <span class="quiet">${escapeHtml(info.version)}</span><p><a href="openapi.json">openapi.json</a>${hasGuide ? ' · <a href="docs/guide/">guide</a>' : ''}</p>${links.join('')}</nav>
<main><h1>${escapeHtml(info.title)}</h1><p>${escapeHtml(info.description)}</p><p>Server: <code>${escapeHtml(server)}</code></p>
<label>Key for requests of this page: an API key, or <code>Bearer …</code> <input id="key" type="password" autocomplete="off"></label>
${sections.join('')}<h2>Schemas</h2>${schemas.join('')}</main><script>${docsScript}</script></body></html>`;
};
