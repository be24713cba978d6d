import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../config.ts';
import { loadSvcJson } from './svc-json.ts';
import { testFolder } from '../../../test/folders.ts';

let dir: string;
beforeEach(() => {
  dir = testFolder();
  writeFileSync(join(dir, 'agent.ts'), '');
  writeFileSync(join(dir, 'auth.ts'), '');
});

const load = (name: string, sections: object) => {
  const file = join(dir, name);
  writeFileSync(file, JSON.stringify({ graphs: { agent: './agent.ts:graph' }, ...sections }));
  return loadSvcJson(file, {});
};
const node = process.versions.node.split('.')[0];

describe('a file of the stock server', () => {
  it.each<[string, object]>([
    ['langgraph.json', {}],
    ['langgraph.prod.json', {}],
    ['langgraph-prod.json', {}],
    ['x.json', { node_version: node }],
    ['x.json', { dependencies: ['.'] }],
    ['x.json', { dockerfile_lines: [] }],
    ['x.json', { compat: 'langgraph', settings: {} }],
    ['svc.json', { compat: 'langgraph' }],
  ])('is recognized: %s with %j', (name, sections) => {
    expect(load(name, sections).compat).toBe(true);
  });

  it.each<[string, object]>([
    ['svc.json', {}],
    ['svc.json', { dependencies: ['.'] }],
    ['svc.prod.json', { node_version: node }],
    ['x.json', {}],
    ['x.json', { dependencies: ['.'], settings: { port: 1 } }],
    ['langgraphs.json', {}],
  ])('is no other: %s with %j', (name, sections) => {
    expect(load(name, sections).compat).toBe(false);
  });

  it('may be named with --config', () => {
    load('production.json', { node_version: node });
    expect(loadConfig({ cwd: dir, env: {}, configPath: 'production.json' }).project.compat).toBe(true);
  });
});

describe('keys that svc does not support', () => {
  it.each<[object, string[]]>([
    [{ encryption: { path: './e.ts:encryption' } }, ['encryption', 'custom encryption is not supported']],
    [{ http: { disable_uploads: true } }, ['http.disable_uploads', 'there is no such group of routes']],
  ])('are refused where they protect something: %j', (sections, parts) => {
    for (const part of parts) expect(() => load('langgraph.json', sections)).toThrow(part);
  });

  it.each<[object, string]>([
    [{ store: { path: './store.ts:store' } }, 'store.path: this has no effect'],
    [{ checkpointer: { path: './c.ts:c' } }, 'checkpointer.path: this has no effect: svc stores threads'],
    [{ checkpointer: { serde: {} } }, 'checkpointer.serde: this has no effect'],

    [
      { http: { middleware_order: 'auth_first' } },
      'http.middleware_order: this has no effect without http.app',
    ],
    [{ node_loader: 'ts-node' }, 'node_loader: this has no effect: modules are loaded by tsx'],
    [{ node_version: '12' }, `node_version: this names Node.js 12; svc runs on ${node}`],
    [
      { base_image: 'x', docker_compose_file: 'x', dockerfile_lines: [] },
      'image builds use base_image, docker_compose_file; svc does not',
    ],
    [{ disable_persistence: true }, 'disable_persistence: this has no effect: threads are always stored'],
    [
      { auth: { path: './auth.ts:auth', openapi: {} } },
      'auth.openapi: svc does not know this key and ignores it',
    ],
    [{ webhooks: { url: { allowed_domain: ['x'] } } }, 'allowed_domain: svc does not know this key'],
    [{ webhooks: { url: { allowed_domain: ['x'] } } }, 'did you mean "allowed_domains"?'],
    [{ http: { disable_uploads: false } }, 'http.disable_uploads: svc does not know this key'],
    [{ http: { cors: { origins: [] } } }, 'http.cors.origins: svc does not know this key'],
  ])('are named in a warning: %j', (sections, warning) => {
    expect(load('langgraph.json', sections).warnings).toEqual([
      expect.stringMatching(/^langgraph\.json:\d+:\d+ /),
    ]);
    expect(load('langgraph.json', sections).warnings[0]).toContain(warning);
  });

  it('are not reported when they have an effect or need none', () => {
    const sections = {
      $schema: 'x',
      dependencies: ['.'],
      node_version: node,
      node_loader: 'tsx',
      env: {},
      auth: { path: './auth.ts:auth', disable_studio_auth: true },
      http: { cors: { allow_origins: ['*'] } },
      checkpointer: { ttl: { default_ttl: 60 } },
      store: { ttl: { default_ttl: 60 } },
      webhooks: { url: { require_https: true } },
    };
    expect(load('langgraph.json', sections).warnings).toEqual([]);
  });
});
