// Configurations of http.app with which the server does not start.
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { loadSvcJson } from '../../src/config/project/svc-json.ts';
import { type CustomOptions, startCustomServer, writeCustomProject } from './custom-server.ts';
import type { ProjectFolder } from '../projects/project-folder.ts';

let folder: ProjectFolder | undefined;
afterEach(() => folder?.[Symbol.dispose]());

describe('http.app', () => {
  it.each<[string, CustomOptions, string[]]>([
    [
      '',
      { http: { app: './none.ts:app' } },
      ['http.app', 'there is no file', 'Create it, or correct the path.'],
    ],
    ['', { http: { app: './app.ts' } }, ['names no export', './app.ts:app']],
    ['', { http: { app: './app.py:app' } }, ['there is no file']],
    ['', { http: { app: 1 } }, ['http.app', 'expected string', 'of an app with custom routes']],
    [
      '',
      { http: { app: './app.ts:app', middleware_order: 'first' } },
      ['http.middleware_order', 'auth_first'],
    ],
    ['', { http: { app: './app.ts:app', enable_custom_route_auth: 'yes' } }, ['enable_custom_route_auth']],
  ])('is a mistake of the configuration: %s%j', (code, options, parts) => {
    folder = writeCustomProject(code, options);
    const { dir } = folder;
    for (const part of parts) expect(() => loadSvcJson(join(dir, 'svc.json'), {})).toThrow(part);
  });

  it.each([
    [
      'export const other = new Hono();',
      ['http.app', 'does not export app; it exports other', 'after the colon'],
    ],
    ['export const app = { fetch() {} };', ['app in', 'is not a Hono app', 'export const app = new Hono()']],
    ['export const app = (request: Request) => new Response();', ['is not a Hono app']],
    ['throw new Error("no database");', ['app.ts cannot be loaded: no database', 'Fix the file']],
    ['import "not-installed"; export const app = new Hono();', ['cannot be loaded', 'not-installed']],
    ['export const app = new Hono(;', ['cannot be loaded']],
  ])('prevents the start when it is no app: %s', async (code, parts) => {
    const start = startCustomServer(code, { executors: 'none' });
    for (const part of parts) await expect(start).rejects.toThrow(part);
  });

  it('may be a promise, a default export, an app in CommonJS, or one without a "type"', async () => {
    const replies = `get('/custom', (c) => c.text('yes'))`;
    const cases: [string, CustomOptions][] = [
      [`export const app = Promise.resolve(new Hono().${replies});`, {}],
      [`export default new Hono().${replies};`, { http: { app: './app.ts:default' } }],
      [
        '',
        {
          files: {
            'package.json': '{}',
            'app.ts': `import { Hono } from 'hono'; export const app = new Hono().${replies};`,
          },
        },
      ],
      [
        '',
        {
          http: { app: './app.cjs:app' },
          files: { 'app.cjs': `const { Hono } = require('hono'); exports.app = new Hono().${replies};` },
        },
      ],
    ];
    for (const [code, options] of cases) {
      await using server = await startCustomServer(code, { executors: 'none', ...options });
      expect((await server.call('GET', '/custom')).body).toBe('yes');
      expect((await server.call('POST', '/threads', {})).status).toBe(200);
    }
  });
});
