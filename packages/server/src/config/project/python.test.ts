import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadSvcJson } from './svc-json.ts';
import { testFolder } from '../../../test/folders.ts';

let dir: string;
beforeEach(() => {
  dir = testFolder();
  write('agent.py');
});

const write = (path: string, content = ''): void => {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  writeFileSync(join(dir, path), content);
};

const load = (sections: object) => {
  const file = join(dir, 'langgraph.json');
  writeFileSync(file, JSON.stringify({ graphs: { agent: './agent.py:graph' }, ...sections }));
  return loadSvcJson(file, {});
};

describe('a project with Python files', () => {
  it('has a file for each graph', () => {
    const { graphs, python } = load({});
    expect([...graphs]).toEqual([['agent', { file: join(dir, 'agent.py'), export: 'graph' }]]);
    expect(python).toEqual({
      paths: [dir],
      interpreter: undefined,
      version: undefined,
      needs: { langgraph: '1.0' },
      storedClasses: [],
    });
  });

  it('names no interpreter when its files are in JavaScript', () => {
    write('agent.ts');
    expect(load({ graphs: { agent: './agent.ts:graph' }, dependencies: ['./none'] }).python).toBeUndefined();
  });

  it('may have only its auth file in Python', () => {
    write('agent.ts');
    write('auth.py');
    const project = load({ graphs: { agent: './agent.ts:graph' }, auth: { path: './auth.py:auth' } });
    expect(project.python).toMatchObject({ paths: [dir], needs: { 'langgraph-sdk': '0.2' } });
  });

  it('may have its app in Python, which needs Starlette', () => {
    write('app.py');
    const { python, customApp } = load({ http: { app: './app.py:app' } });
    expect(python?.needs).toEqual({ langgraph: '1.0', starlette: '0.37' });
    expect(customApp?.source).toMatchObject({ file: join(dir, 'app.py'), export: 'app' });
  });

  it('may have its embedding function in Python, or names a provider', () => {
    const embedOf = (embed: string) => load({ store: { index: { dims: 3, embed } } }).storeIndex?.embed;
    expect(embedOf('./agent.py:embed')).toEqual({
      kind: 'python',
      file: join(dir, 'agent.py'),
      export: 'embed',
    });
    const model = 'openai:text-embedding-3-small';
    expect(embedOf(model)).toEqual({ kind: 'python_provider', model });
  });

  it('finds modules in its folder, in local dependencies and in their src', () => {
    write('libs/tools/pyproject.toml');
    write('libs/tools/src/tools/__init__.py');
    write('libs/plain/plain.py');
    const { paths } =
      load({ dependencies: ['.', './libs/tools', './libs/plain', 'httpx>=0.27'] }).python ?? {};
    expect(paths).toEqual([
      dir,
      join(dir, 'libs/tools'),
      join(dir, 'libs/tools/src'),
      join(dir, 'libs/plain'),
    ]);
  });

  it('may name graphs and its auth object as Python imports them', () => {
    write('pyproject.toml');
    write('src/team/__init__.py');
    write('src/team/agents/research.py');
    write('security/__init__.py');
    const project = load({
      dependencies: ['.'],
      graphs: { research: 'team.agents.research:make_graph' },
      auth: { path: 'security:auth' },
    });
    expect(project.graphs.get('research')).toEqual({
      file: join(dir, 'src/team/agents/research.py'),
      export: 'make_graph',
    });
    expect(project.auth?.source).toMatchObject({
      file: join(dir, 'security/__init__.py'),
      export: 'auth',
    });
  });

  it('names the classes that stored values may have', () => {
    const serde = { allowed_msgpack_modules: [['team.models', 'Order']] };
    const { python, warnings } = load({ checkpointer: { serde } });
    expect(python?.storedClasses).toEqual([['team.models', 'Order']]);
    expect(warnings).toEqual([]);
    const all = load({ checkpointer: { serde: { allowed_msgpack_modules: true } } });
    expect(all.python?.storedClasses).toBe('all');
  });

  it('resolves a path of its interpreter, and leaves a name as it is', () => {
    expect(load({ python: '../env/bin/python' }).python?.interpreter).toBe(join(dir, '../env/bin/python'));
    expect(load({ python: 'python3.12' }).python?.interpreter).toBe('python3.12');
  });

  it('warns of the keys that only images of other servers use', () => {
    const { python, warnings } = load({ python_version: '3.12', pip_installer: 'uv', base_image: 'x' });
    expect(python?.version).toBe('3.12');
    expect(warnings).toEqual([expect.stringMatching(/image builds use base_image; svc does not$/)]);
  });

  it.each<[object, string[]]>([
    [{ graphs: { agent: './agent.py' } }, ['names no export', '"./agent.py:graph"']],
    [
      { graphs: { agent: 'team.agent:graph' } },
      ['there is no Python module team.agent in', '"dependencies"'],
    ],
    [{ dependencies: ['./libs'] }, ['dependencies.0 = "./libs"', 'there is no folder']],
    [{ encryption: { path: './agent.py:encryption' } }, ['encryption', 'is not supported']],
    [
      { checkpointer: { serde: { allowed_msgpack_modules: ['models'] } } },
      ['checkpointer.serde.allowed_msgpack_modules', 'is not a list of classes'],
    ],
  ])('reports the mistake of %j', (sections, parts) => {
    for (const part of parts) expect(() => load(sections)).toThrow(part);
  });
});
