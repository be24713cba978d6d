import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadConfig, loadSettings } from '../config.ts';
import { ConfigError } from './mistake.ts';
import { findConfigFile, loadSvcJson } from './svc-json.ts';
import { svcJsonSchema } from './svc-json-schema.ts';
import { testFolder } from '../../../test/folders.ts';

let dir: string;

beforeEach(() => {
  dir = testFolder();
  writeFileSync(join(dir, 'agent.ts'), 'export const graph = 1;');
});

const write = (content: unknown, name = 'svc.json'): string => {
  const file = join(dir, name);
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
};

const load = (content: unknown, env = {}) => loadSvcJson(write(content), env);

const graphs = { agent: './agent.ts:graph' };

const failure = (read: () => unknown): ConfigError => {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('no mistake was found');
};

describe('svc.json', () => {
  it('returns graphs with absolute paths, in the order of the file', () => {
    mkdirSync(join(dir, 'src'));
    writeFileSync(join(dir, 'src', 'b.mjs'), '');
    const project = load({
      $schema: './svc.schema.json',
      graphs: { zeta: { path: './src/b.mjs:default', description: 'B' }, agent: './agent.ts:graph' },
    });
    expect([...project.graphs]).toEqual([
      ['zeta', { file: join(dir, 'src', 'b.mjs'), export: 'default', description: 'B' }],
      ['agent', { file: join(dir, 'agent.ts'), export: 'graph' }],
    ]);
    expect(project).toMatchObject({ dir, compat: false, env: {}, warnings: [] });
  });

  it('may name files outside of its folder', () => {
    mkdirSync(join(dir, 'deploy'));
    const file = write({ graphs: { agent: '../agent.ts:graph' } }, 'deploy/svc.json');
    expect(loadSvcJson(file, {}).graphs.get('agent')?.file).toBe(join(dir, 'agent.ts'));
  });

  it('names the default export by a path alone in a file of the stock server', () => {
    const file = write({ graphs: { a: './agent.ts', b: { path: './agent.ts' } } }, 'langgraph.json');
    const source = { file: join(dir, 'agent.ts'), export: 'default' };
    expect([...loadSvcJson(file, {}).graphs]).toEqual([
      ['a', source],
      ['b', source],
    ]);
  });

  it('is compatible with LangGraph Platform when it sets compat', () => {
    expect(load({ compat: 'langgraph', graphs }).compat).toBe(true);
  });

  it('warns of an env file that does not exist', () => {
    const project = load('{\n"graphs": {"agent": "./agent.ts:graph"},\n"env": ".env"}');
    expect(project.env).toEqual({});
    expect(project.warnings).toEqual([
      expect.stringMatching(/^svc\.json:3:\d+ env = "\.env": there is no file /),
    ]);
  });

  it('warns of an unknown key, and suggests the right one', () => {
    expect(load('{\n"graphs": {"agent": "./agent.ts:graph"},\n"dependancies": []}').warnings).toEqual([
      'svc.json:3:1 dependancies: svc does not know this key and ignores it; did you mean "dependencies"?',
    ]);
  });

  it('reads variables from a file or a map; the environment of the process has priority', () => {
    writeFileSync(join(dir, '.env'), 'A=1\nB="two words"\n# C=3\n');
    expect(load({ graphs, env: '.env' }, { A: 'mine' })).toMatchObject({
      env: { B: 'two words' },
      envFile: join(dir, '.env'),
    });
    expect(load({ graphs, env: { A: 1, B: true, C: 'c' } }, { C: 'mine' }).env).toEqual({
      A: '1',
      B: 'true',
    });
    expect(load({ graphs, env: ['A'] }, { A: 'mine' }).env).toEqual({});
  });

  it.each<[string, unknown, string[]]>([
    ['no graphs', {}, ['svc.json:1:1 graphs', 'is missing', '"graphs": {"agent"']],
    ['an empty map of graphs', { graphs: {} }, ['svc.json:1:2 graphs', 'at least one graph']],
    ['graphs that are a list', { graphs: [] }, ['not a map']],
    ['a list', [], ['"graphs" is missing']],
    [
      'a graph without an export',
      { graphs: { a: './agent.ts' } },
      ['graphs.a = "./agent.ts"', 'names no export', '"./agent.ts:graph"'],
    ],
    ['a Windows path without an export', { graphs: { a: 'C:\\agent.ts' } }, ['names no export']],
    [
      'a graph file that is missing',
      { graphs: { a: './nope.ts:graph' } },
      ['graphs.a', 'there is no file', 'nope.ts'],
    ],
    [
      'a graph file that is a folder',
      { graphs: { a: './.ts:graph' } },
      ['is not a JavaScript, TypeScript or Python file'],
    ],
    ['a graph with NUL in its path', { graphs: { a: './a\0.ts:graph' } }, ['there is no file']],
    ['a Python file that is missing', { graphs: { a: './agent.py:graph' } }, ['there is no file']],
    [
      'a graph in another language',
      { graphs: { a: './agent.rb:graph' } },
      ['is not a JavaScript, TypeScript or Python file'],
    ],
    ['a graph that is a number', { graphs: { a: 1 } }, ['names no file']],
    ['a graph without a path', { graphs: { a: { description: 'x' } } }, ['names no file']],
    [
      'a graph whose description is a number',
      { graphs: { a: { path: './agent.ts:graph', description: 1 } } },
      ['description is not a text'],
    ],
    [
      'the graph id __proto__',
      '{"graphs": {"__proto__": "./agent.ts:graph"}}',
      ['graphs.__proto__', 'reserved'],
    ],
    ['the graph id constructor', { graphs: { constructor: './agent.ts:graph' } }, ['reserved']],
    ['a graph id with a slash', { graphs: { 'a/b': './agent.ts:graph' } }, ['not a valid graph id']],
    ['an empty graph id', { graphs: { '': './agent.ts:graph' } }, ['not a valid graph id']],
    [
      'a UUID as graph id',
      { graphs: { 'fe096781-5601-53d2-b2f6-0d3403f7e9ca': './agent.ts:graph' } },
      ['must not be a UUID'],
    ],
    [
      'a misspelt key of a ttl',
      { graphs, checkpointer: { ttl: { defaul_ttl: 60 } } },
      ['checkpointer.ttl', 'has the unknown key "defaul_ttl"', 'did you mean "default_ttl"?'],
    ],
    [
      'a key that no ttl has',
      { graphs, store: { ttl: { colour: 1 } } },
      ['store.ttl', 'known keys are refresh_on_read, default_ttl, sweep_interval_minutes'],
    ],
    [
      'a ttl that is a text',
      { graphs, checkpointer: { ttl: { default_ttl: '30d' } } },
      ['checkpointer.ttl.default_ttl', 'must be a number of minutes'],
    ],
    ['a ttl of zero', { graphs, store: { ttl: { default_ttl: 0 } } }, ['greater than 0']],
    [
      'a ttl that is a number',
      { graphs, checkpointer: { ttl: 60 } },
      ['checkpointer.ttl', 'must be an object such as {"default_ttl": 43200}'],
    ],
    [
      'a strategy that is none',
      { graphs, checkpointer: { ttl: { strategy: 'archive' } } },
      ['checkpointer.ttl.strategy', '"delete" or "keep_latest"'],
    ],
    [
      'a sweep limit of 0',
      { graphs, checkpointer: { ttl: { sweep_limit: 0 } } },
      ['sweep_limit', 'from 1 to 10000'],
    ],
    [
      'a sweep once a year',
      { graphs, store: { ttl: { sweep_interval_minutes: 525_600 } } },
      ['sweep_interval_minutes', 'at most 30000'],
    ],
    ['an env variable that is required and missing', { graphs, env: ['API_KEY'] }, ['API_KEY is required']],
    ['an env of the wrong type', { graphs, env: 7 }, ['svc.json:1:40 env']],
    ['a compat that is unknown', { graphs, compat: 'other' }, ['svc.json:1:40 compat']],
    [
      'a console.auth of an unknown kind',
      { graphs, console: { auth: { kind: 'saml' } } },
      ['console.auth.kind'],
    ],
    [
      'a provider that is reached without TLS',
      { graphs, console: { auth: { kind: 'oidc', issuer: 'http://id.example.com', client_id: 'svc' } } },
      ['console.auth.issuer', 'must be the https:// address'],
    ],
    [
      'a provider that is not asked for an ID token',
      {
        graphs,
        console: {
          auth: { kind: 'oidc', issuer: 'https://id.example.com', client_id: 'svc', scopes: ['email'] },
        },
      },
      ['console.auth.scopes', 'must contain openid'],
    ],
    [
      'a parameter of the provider that the server sets',
      {
        graphs,
        console: {
          auth: {
            kind: 'oidc',
            issuer: 'https://id.example.com',
            client_id: 'svc',
            parameters: { state: 'mine' },
          },
        },
      },
      ['console.auth.parameters', 'the server sets them'],
    ],
    [
      'a console.auth with a header that holds no credential',
      { graphs, console: { auth: { kind: 'header', name: 'Cookie' } } },
      ['console.auth.name', 'cannot hold a credential'],
    ],
    ['a misspelt key of console', { graphs, console: { auht: { kind: 'bearer' } } }, ['console', 'auht']],
    ['a section that is a text', { graphs, http: 'x' }, ['svc.json:1:40 http']],
    ['text that is not JSON', '{"graphs": {},}', ['svc.json:1:15', 'comma']],
  ])('is rejected for %s', (_name, content, parts) => {
    const { message } = failure(() => load(content));
    for (const part of parts) expect(message).toContain(part);
  });

  it('reports the mistakes of all sections and of the settings at once, each with its place', () => {
    write({
      graphs: { a: './no.ts:graph', toString: './agent.ts:graph', 'b/c': './agent.py:graph' },
      env: { A: [] },
      auth: { path: './auth.ts', cache: { cache_keys: [] } },
      http: { cors: { allow_origins: ['example.com'], max_age: 'x' } },
      store: { ttl: { default_ttl: 0 } },
      checkpointer: { ttl: { strategy: 'archive', colour: 1 } },
      webhooks: { headers: { host: 'x' }, url: { allowed_ports: [0] } },
      settings: { port: 'x', lesae: '30s', poolMax: [] },
    });
    const { mistakes } = failure(() =>
      loadConfig({ cwd: dir, env: { SVC_LEASE: '5' }, flags: { role: 'x' } }),
    );
    const places = mistakes.map(({ where }) => where.replace(/:\d+:\d+/, ''));
    expect(new Set(places)).toEqual(
      new Set([
        'svc.json graphs.a',
        'svc.json graphs.toString',
        'svc.json graphs.b/c',
        'svc.json env',
        'svc.json auth.cache.ttl_seconds',
        'svc.json auth.cache.cache_keys',
        'svc.json http.cors.max_age',
        'svc.json store.ttl.default_ttl',
        'svc.json checkpointer.ttl.strategy',
        'svc.json checkpointer.ttl',
        'svc.json webhooks.url.allowed_ports.0',
        'svc.json settings."lesae"',
        'svc.json settings.port',
        'svc.json settings.poolMax',
        'flag --role',
        'SVC_LEASE',
      ]),
    );
    for (const { problem, remedy } of mistakes) expect([problem, remedy]).not.toContain('');
  });

  it('reports mistakes between sections together with those of settings', () => {
    writeFileSync(join(dir, 'auth.ts'), '');
    write({
      graphs: { a: './no.ts:graph' },
      auth: { path: './auth.ts' },
      http: { cors: { allow_origins: ['example.com'], allow_methods: ['NO WAY'] } },
      webhooks: { headers: { host: 'x', authorization: 'Bearer x' } },
    });
    const { mistakes } = failure(() => loadConfig({ cwd: dir, env: { SVC_LEASE: '5' } }));
    expect(mistakes.map(({ where }) => where.replace(/:\d+:\d+/, ''))).toEqual([
      'svc.json graphs.a',
      'svc.json webhooks.headers.host',
      'svc.json webhooks.headers.authorization',
      'svc.json auth.path',
      'svc.json http.cors.allow_methods.0',
      'svc.json http.cors.allow_origins.0',
      'SVC_LEASE',
    ]);
  });

  it('reports a server that anybody could use together with other mistakes, but not because of one', () => {
    const flags = { host: '0.0.0.0' };
    const open = 'opens the server to the network';
    write({ graphs: { a: './no.ts:graph' } });
    const load = (env: Record<string, string>) => failure(() => loadConfig({ cwd: dir, env, flags })).message;
    expect(load({ SVC_LEASE: '5' })).toMatch(new RegExp(`graphs.a[^]*SVC_LEASE[^]*${open}`));
    expect(load({ SVC_API_KEY: 'short' })).not.toContain(open);
    write({ graphs, auth: { path: 1 } });
    expect(load({})).not.toContain(open);
    write({ graphs, env: ['SVC_API_KEY'] });
    expect(load({})).not.toContain(open);
  });

  it('says what belongs at the place of a mistake', () => {
    expect(failure(() => load({ graphs, http: { cors: { max_age: 'x' } } })).message).toContain(
      'Expected here: Seconds for which a browser may cache this; 600 by default.',
    );
  });

  it('that cannot be read is a mistake too', () => {
    expect(failure(() => loadSvcJson(join(dir, 'none.json'), {})).message).toContain('cannot be read');
  });
});

describe('the search for the config file', () => {
  it('prefers svc.json to langgraph.json', () => {
    write({ graphs }, 'langgraph.json');
    expect(findConfigFile(dir)).toBe(join(dir, 'langgraph.json'));
    write({ graphs });
    expect(findConfigFile(dir)).toBe(join(dir, 'svc.json'));
  });

  it('uses --config with a file or its folder', () => {
    const file = write({ graphs }, 'other.json');
    expect(findConfigFile('/', file)).toBe(file);
    write({ graphs });
    expect(findConfigFile('/', dir)).toBe(join(dir, 'svc.json'));
  });

  it('fails without a file for commands that serve, not for commands about settings', () => {
    expect(failure(() => loadConfig({ cwd: dir, env: {} })).message).toContain('there is no svc.json');
    expect(loadSettings({ cwd: dir, env: {} }).settings.storage.dataDir).toBe(join(dir, '.svc'));
    expect(failure(() => loadSettings({ cwd: dir, env: {}, configPath: 'x.json' })).message).toContain(
      'no such config file',
    );
  });
});

describe('svc.schema.json', () => {
  it('equals the generated schema (npm run generate)', () => {
    const committed = readFileSync(new URL('../../../svc.schema.json', import.meta.url), 'utf8');
    expect(committed).toBe(svcJsonSchema());
  });
});
