// The API reference as a single HTML page, without scripts and external resources.

type Node = Record<string, unknown>;

interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  parameters?: { name: string; in: string; required: boolean; schema: Node }[];
  requestBody?: { required: boolean; content: Record<string, { schema: Node }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: Node }> }>;
}

const escapes: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escape = (text: unknown): string =>
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
.quiet { color: var(--quiet) } summary { cursor: pointer; color: var(--quiet) } a.anchor { color: inherit; text-decoration: none }
@media (max-width: 50rem) { body { display: block } nav { position: static; height: auto; border: 0 } main { padding: 1rem } }`;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const refName = (schema: Node): string | undefined =>
  (schema['$ref'] as string | undefined)?.split('/').pop();

/** A short description of a type. */
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
  if (properties.length === 0) return `<p><code>${escape(typeOf(schema))}</code></p>`;
  const required = new Set((whole['required'] ?? []) as string[]);
  const rows = properties.map(([name, property]) => row(name, property, required.has(name)));
  return `<table>${rows.join('')}</table>`;
};

const row = (name: string, schema: Node, isRequired: boolean, where = ''): string =>
  `<tr><td><code>${escape(name)}</code>${isRequired ? '' : '<span class="quiet">?</span>'}</td>
   <td><code>${escape(typeOf(schema))}</code> <span class="quiet">${escape([where, textOf(schema['description'])].filter(Boolean).join(' · '))}</span></td></tr>`;

const example = (method: string, path: string, operation: Operation): string => {
  const url = `http://127.0.0.1:2024${path.replaceAll(/\{(\w+)\}/g, '$$$1')}`;
  const verb = method === 'get' ? '' : ` -X ${method.toUpperCase()}`;
  const body = operation.requestBody
    ? ` -H 'content-type: application/json' -d '${path.includes('/runs') ? '{"assistant_id":"agent","input":{"messages":[{"role":"user","content":"hello"}]}}' : '{}'}'`
    : '';
  return `curl -s${verb} "${url}"${body}`;
};

const section = (
  method: string,
  path: string,
  operation: Operation,
  components: Record<string, Node>,
): string => {
  const { operationId, summary, parameters = [], requestBody, responses } = operation;
  const body = requestBody?.content['application/json']?.schema;
  const rows = Object.entries(responses).map(([status, response]) => {
    const [type, content] = Object.entries(response.content ?? {})[0] ?? [];
    const shape =
      content && Number(status) < 300
        ? ` <code>${escape(typeOf(content.schema))}</code> <span class="quiet">${escape(type)}</span>`
        : '';
    return `<tr><td><code>${escape(status)}</code></td><td>${escape(response.description)}${shape}</td></tr>`;
  });
  return `<section id="${escape(operationId)}">
<h3><a class="anchor" href="#${escape(operationId)}"><span class="method ${escape(method)}">${escape(method)}</span> <code>${escape(path)}</code></a></h3>
<p>${escape(summary)}</p>
${parameters.length > 0 ? `<table>${parameters.map((one) => row(one.name, one.schema, one.required, one.in)).join('')}</table>` : ''}
${body ? `<h4>Body</h4>${fields(body, components)}` : ''}
<pre>${escape(example(method, path, operation))}</pre>
<details><summary>Responses</summary><table>${rows.join('')}</table></details>
</section>`;
};

/** A self-contained HTML page for an OpenAPI document. */
export const docsPage = (document: Node): string => {
  const { info, paths, components } = document as {
    info: { title: string; version: string };
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: Record<string, Node> };
  };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const tags = [...new Set(operations.flatMap(({ operation }) => operation.tags))];
  const of = (tag: string) => operations.filter(({ operation }) => operation.tags.includes(tag));
  const links = tags.map(
    (tag) =>
      `<h2>${escape(tag)}</h2>${of(tag)
        .map(
          ({ method, path, operation }) =>
            `<a href="#${escape(operation.operationId)}"><span class="method ${escape(method)}">${escape(method)}</span>${escape(path.replaceAll(/\{\w+\}/g, '{…}'))}</a>`,
        )
        .join('')}`,
  );
  const sections = tags.map(
    (tag) =>
      `<h2>${escape(tag)}</h2>${of(tag)
        .map(({ method, path, operation }) => section(method, path, operation, components.schemas))
        .join('')}`,
  );
  const shapes = Object.entries(components.schemas).map(
    ([name, schema]) =>
      `<section id="shape-${escape(name)}"><h3><code>${escape(name)}</code></h3><p class="quiet">${escape(schema['description'] ?? '')}</p>${fields(schema, components.schemas)}</section>`,
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(info.title)}</title><style>${style}</style></head>
<body><nav><strong>${escape(info.title)}</strong> <span class="quiet">${escape(info.version)}</span><p><a href="/openapi.json">openapi.json</a></p>${links.join('')}</nav>
<main><h1>${escape(info.title)}</h1>${sections.join('')}<h2>Shapes</h2>${shapes.join('')}</main></body></html>`;
};
