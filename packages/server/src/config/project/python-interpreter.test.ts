import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { findInterpreter, interpreterText, interpreterWarnings } from './python-interpreter.ts';
import { testFolder } from '../../../test/folders.ts';

let dir: string;
let env: Record<string, string>;
beforeEach(() => {
  dir = join(testFolder(), 'project');
  mkdirSync(dir);
  env = { PATH: `${dir}/programs:/usr/bin:/bin` };
});

const write = (path: string, content = ''): string => {
  const file = join(dir, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
};

/** A program that prints this. */
const program = (path: string, output: string): string => {
  const file = write(path, `#!/bin/sh\ncat <<'END'\n${output}\nEND\n`);
  chmodSync(file, 0o755);
  return file;
};

interface Found {
  version?: string;
  langgraph?: string | null;
}

/** A program that describes its environment as an interpreter does. */
const interpreter = (path: string, { version = '3.12.4', langgraph = '1.2.24' }: Found = {}): string =>
  program(
    path,
    JSON.stringify({ version, executable: path, packages: { langgraph, 'langgraph-sdk': '0.4.14' } }),
  );

const find = (given: { interpreter?: string; version?: string } = {}) =>
  findInterpreter(
    {
      dir,
      file: 'langgraph.json',
      python: {
        paths: [dir],
        interpreter: given.interpreter,
        version: given.version,
        storedClasses: [],
        needs: { langgraph: '1.0' },
      },
    },
    env,
  );

describe('the interpreter of a project', () => {
  it('is the first that is named: by the config file, VIRTUAL_ENV, .venv, uv, poetry, or the PATH', async () => {
    const named = interpreter('named/python');
    const active = interpreter('active/bin/python');
    const venv = interpreter('.venv/bin/python');
    const uv = interpreter('uv-env/bin/python');
    const poetry = interpreter('poetry-env/bin/python');
    const inPath = interpreter('programs/python3');
    write('uv.lock');
    write('poetry.lock');
    program('programs/uv', uv);
    program('programs/poetry', join(dir, 'poetry-env'));
    env['VIRTUAL_ENV'] = join(dir, 'active');

    expect(await find({ interpreter: named })).toMatchObject({
      path: named,
      origin: '"python" of the config file',
    });
    expect(await find({ interpreter: join(dir, '.venv') })).toMatchObject({ path: venv });
    expect(await find({ interpreter: 'python3' })).toMatchObject({ path: inPath });
    expect(await find()).toMatchObject({ path: active, origin: 'VIRTUAL_ENV' });
    delete env['VIRTUAL_ENV'];
    expect(await find()).toMatchObject({ path: venv, origin: '.venv' });
    rmSync(join(dir, '.venv'), { recursive: true });
    expect(await find()).toMatchObject({ path: uv, origin: 'uv python find' });
    rmSync(join(dir, 'uv.lock'));
    expect(await find()).toMatchObject({ path: poetry, origin: 'poetry env info' });
    rmSync(join(dir, 'poetry.lock'));
    expect(await find()).toMatchObject({ path: inPath, origin: 'python3 in the PATH' });
  });

  it('may be in an environment of a folder above', async () => {
    const venv = interpreter('../.venv/bin/python');
    expect(await find()).toMatchObject({ path: join(dir, '../.venv/bin/python') });
    expect(venv).toContain('.venv');
  });

  it('is searched in the PATH where uv is not installed', async () => {
    write('uv.lock');
    const inPath = interpreter('programs/python3');
    expect(await find()).toMatchObject({ path: inPath });
  });

  it('is described with the versions of its packages', async () => {
    const path = interpreter('.venv/bin/python');
    expect(interpreterText(await find())).toBe(
      `Python 3.12.4 (${path}, .venv), langgraph 1.2.24, langgraph-sdk 0.4.14`,
    );
  });

  it('has a warning when it is another version than the project names, or newer than tested', async () => {
    interpreter('.venv/bin/python', { version: '3.15.0' });
    const python = { paths: [], interpreter: undefined, version: '3.12', storedClasses: [], needs: {} };
    expect(interpreterWarnings({ dir, file: 'langgraph.json', python }, await find())).toEqual([
      expect.stringContaining('is newer than svc was tested with'),
      expect.stringContaining('python_version names Python 3.12'),
    ]);
  });
});

describe('an interpreter that cannot execute the project', () => {
  const failure = async (): Promise<string> => find().then(String, (error: Error) => error.message);

  it('is named when nothing was found', async () => {
    env['PATH'] = join(dir, 'programs');
    write('requirements.txt');
    const message = await failure();
    expect(message).toContain('langgraph.json: has Python files, and no Python interpreter was found');
    expect(message).toContain('python3 -m venv .venv && .venv/bin/pip install -r requirements.txt');
  });

  it('is named when the environment was deleted, or its Python was', async () => {
    mkdirSync(join(dir, '.venv/bin'), { recursive: true });
    write('uv.lock');
    expect(await failure()).toMatch(/there is no Python at .*\.venv.*\n.*uv sync/);
    symlinkSync(join(dir, 'gone'), join(dir, '.venv/bin/python'));
    expect(await failure()).toContain('is a link to a Python that does not exist any more');
  });

  it('is named when it fails', async () => {
    const file = write('.venv/bin/python', '#!/bin/sh\necho "cannot open libpython" >&2\nexit 1\n');
    expect(await failure()).toContain('it is not executable');
    chmodSync(file, 0o755);
    expect(await failure()).toContain('cannot be executed: cannot open libpython');
    program('.venv/bin/python', 'Python 3.12');
    expect(await failure()).toContain('it printed no version');
  });

  it('is named when it is too old', async () => {
    interpreter('.venv/bin/python', { version: '3.10.13' });
    expect(await failure()).toContain('is too old: svc needs 3.11 or newer');
  });

  it.each<[string, string[], string]>([
    ['no list of packages', [], '-m pip install "langgraph>=1.0"'],
    ['requirements.txt', ['requirements.txt'], '-m pip install -r requirements.txt'],
    ['pyproject.toml', ['pyproject.toml'], '-m pip install -e .'],
    ['uv', ['pyproject.toml', 'uv.lock'], 'Run uv sync.'],
    ['poetry', ['pyproject.toml', 'poetry.lock'], 'Run poetry install.'],
  ])(
    'is named with the command that installs a missing langgraph, with %s',
    async (_name, files, command) => {
      interpreter('.venv/bin/python', { langgraph: null });
      for (const file of files) write(file);
      const message = await failure();
      expect(message).toContain('langgraph is not installed for');
      expect(message).toContain(command);
    },
  );

  it('is named with the command that creates an environment, when it is that of the system', async () => {
    interpreter('programs/python3', { langgraph: null });
    write('requirements.txt');
    expect(await failure()).toContain(
      'Run python3 -m venv .venv && .venv/bin/pip install -r requirements.txt.',
    );
  });

  it('is named with the command that upgrades langgraph', async () => {
    interpreter('.venv/bin/python', { langgraph: '0.6.11' });
    const message = await failure();
    expect(message).toContain('langgraph 0.6.11 of');
    expect(message).toContain('-m pip install --upgrade "langgraph>=1.0"');
    write('.venv/pyvenv.cfg', 'home = /usr/bin\nuv = 0.9.1\n');
    expect(await failure()).toContain('uv pip install --upgrade --python');
  });
});
