// Components for generative user interfaces: built from files of the project, and loaded by web pages.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { TestSettings } from '../settings.ts';
import type { Logger } from '../../src/telemetry/logger.ts';
import { createProjectFolder, type ProjectFolder } from '../projects/project-folder.ts';
import { startTestServer, type TestServer } from '../server.ts';

const graph = `${fileURLToPath(new URL('../graphs/probe.ts', import.meta.url))}:probe`;
const auth = fileURLToPath(new URL('../access/project/auth.ts', import.meta.url));

const sources = {
  'ui.tsx': `import { useState } from 'react';
import * as chart from 'chart-kit';
import { styleName } from './style-name';
import './ui.css';
const Weather = ({ city }: { city: string }) => {
  const [degrees] = useState(21);
  return <p className={styleName}>{city}: {degrees} {chart.unit}</p>;
};
export default { weather: Weather };
`,
  'style-name.ts': 'export const styleName: string = "weather";\n',
  'ui.css': '.weather { color: teal }\n',
};
const ui = { ui: { 'my-agent': './ui.tsx' }, ui_config: { shared: ['chart-kit'] } };

const serve = async (
  config: Record<string, unknown>,
  {
    files = sources,
    logger,
    settings,
  }: { files?: Record<string, string>; logger?: Logger; settings?: TestSettings } = {},
): Promise<TestServer & { folder: ProjectFolder }> => {
  const folder = createProjectFolder();
  folder.write({ ...files, 'svc.json': { graphs: { probe: graph }, ...config } });
  const server = await startTestServer({
    executors: 'none',
    project: join(folder.dir, 'svc.json'),
    ...(logger === undefined ? {} : { logger }),
    ...(settings === undefined ? {} : { settings }),
  });
  return {
    ...server,
    folder,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
};

const attributesIn = (html: unknown, name: string): string[] =>
  [...String(html).matchAll(new RegExp(` ${name}=(["'])(.*?)\\1`, 'g'))].map(([, , value = '']) =>
    value.replaceAll('&quot;', '"').replaceAll('&amp;', '&'),
  );

/** What a page has when it evaluates the script, and the component that it gets. */
const evaluate = (script: string, call: string): unknown => {
  const rendered: unknown[] = [];
  const element = (type: unknown, props: unknown) => ({ type, props });
  const modules: Record<string, unknown> = {
    react: { useState: (value: unknown) => [value] },
    'react/jsx-runtime': { jsx: element, jsxs: element },
    'chart-kit': { unit: 'degrees' },
  };
  const page = {
    window: {
      [Symbol.for('LGUI_EXT_STORE')]: {
        respond: (id: string, component: (props: object) => unknown) =>
          rendered.push(id, component({ city: 'Oslo' })),
      },
    },
    document: {
      createElement: () => ({}),
      getElementById: () => ({ shadowRoot: { appendChild: () => undefined } }),
    },
    provide: (name: string) => modules[name],
  };
  const start = 'globalThis[Symbol.for("LGUI_REQUIRE")] = provide;';
  // oxlint-disable-next-line typescript/no-implied-eval -- the script of the server under test
  runInNewContext(`${start}\n${script}\n${call}`, page);
  return JSON.parse(JSON.stringify(rendered));
};

describe('the HTML of a component', () => {
  it('loads a script that gives the component to the page', async () => {
    await using server = await serve(ui);
    const { status, body, headers } = await server.call('POST', '/ui/my-agent', { name: 'weather' });
    expect({ status, type: headers.get('content-type') }).toEqual({
      status: 200,
      type: 'text/html; charset=utf-8',
    });
    const [src = ''] = attributesIn(body, 'src');
    const [onload = ''] = attributesIn(body, 'onload');
    expect(body).toContain(`onload='__LGUI_my_agent.render("weather", "{{shadowRootId}}")'`);
    expect(src).toMatch(new RegExp(`^${server.url}/ui/my-agent/entrypoint\\.js\\?v=`));
    const script = await fetch(src);
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    const children = ['Oslo', ': ', 21, ' ', 'degrees'];
    expect(evaluate(await script.text(), onload.replace('{{shadowRootId}}', 'root-1'))).toEqual([
      'root-1',
      { type: 'p', props: { className: 'weather', children } },
    ]);
    const [href = ''] = attributesIn(body, 'href');
    const style = await fetch(href);
    expect(style.headers.get('content-type')).toBe('text/css; charset=utf-8');
    expect(await style.text()).toContain('.weather');
  });

  it('has the address by which the client reached the server, with the path before all routes', async () => {
    await using server = await serve(
      { ...ui, http: { mount_prefix: '/agents' } },
      { settings: { trustedProxies: '127.0.0.1' } },
    );
    const headers = { 'content-type': 'application/json', 'x-forwarded-proto': 'https' };
    const body = JSON.stringify({ name: 'weather' });
    const response = await fetch(`${server.url}/ui/my-agent`, { method: 'POST', headers, body });
    const [src = ''] = attributesIn(await response.text(), 'src');
    expect(src).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/agents\/ui\/my-agent\/entrypoint\.js/);
    expect((await fetch(src.replace('https:', 'http:'))).status).toBe(200);
  });

  it('accepts no name that could be markup or code', async () => {
    await using server = await serve(ui);
    for (const name of ['', '"); alert(1); ("', "a'b", '<b>', '{{shadowRootId}}', 'x'.repeat(129)])
      expect((await server.call('POST', '/ui/my-agent', { name })).status).toBe(422);
  });
});

describe('a file of a component', () => {
  it('is found only by its exact name', async () => {
    await using server = await serve(ui);
    for (const path of ['/ui/my-agent/ui.tsx', '/ui/my-agent/svc.json', '/ui/other/entrypoint.js'])
      expect((await server.call('GET', path)).status).toBe(404);
    expect((await server.call('GET', '/ui/my-agent/..%2f..%2fsvc.json')).status).toBe(400);
    expect((await server.call('POST', '/ui/other', { name: 'weather' })).status).toBe(404);
  });

  it('is not kept by caches when the request names another version', async () => {
    await using server = await serve(ui);
    for (const query of ['', '?v=old']) {
      const { headers } = await server.call('GET', `/ui/my-agent/entrypoint.js${query}`);
      expect(headers.get('cache-control')).toBe('no-cache');
    }
  });

  it('is public with custom authentication, and the HTML is not', async () => {
    await using server = await serve({ ...ui, auth: { path: `${auth}:auth` } });
    expect((await server.call('POST', '/ui/my-agent', { name: 'weather' })).status).toBe(401);
    expect((await server.call('GET', '/ui/my-agent/entrypoint.js')).status).toBe(200);
  });

  it('needs authentication with http.enable_ui_auth', async () => {
    await using server = await serve({
      ...ui,
      auth: { path: `${auth}:auth` },
      http: { enable_ui_auth: true },
    });
    expect((await server.call('GET', '/ui/my-agent/entrypoint.js')).status).toBe(401);
  });
});

it('no route is under /ui with http.disable_ui', async () => {
  await using server = await serve({ ...ui, http: { disable_ui: true } });
  const { body } = await server.call('POST', '/ui/my-agent', { name: 'weather' });
  expect(body).toMatchObject({ message: 'No route has this path.' });
});

it('components that cannot be built are reported in the log, and the server starts', async () => {
  const lines: string[] = [];
  const logger = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) });
  const files = { ...sources, 'ui.tsx': "import x from './missing';\nexport default { x };\n" };
  await using server = await serve(ui, { files, logger });
  expect((await server.call('POST', '/ui/my-agent', { name: 'x' })).status).toBe(503);
  const place = `${join(server.folder.dir, 'ui.tsx')}:1:15`;
  expect(lines.join('')).toContain(`UI \\"my-agent\\" cannot be built: ${place}: Could not resolve`);
});
