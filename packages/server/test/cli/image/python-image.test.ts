// svc dockerfile and svc build for projects with Python files. deploy/test/image runs the commands of such a Dockerfile.
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readImageProject } from '../../../src/cli/image/image-project.ts';
import { dockerfileOf } from '../../../src/cli/image/dockerfile.ts';
import { writeContext } from '../../../src/cli/commands/image.ts';
import { packageVersion } from '../../../src/config/package-files.ts';
import { createPythonSample, npmLock } from './image-sample.ts';

const dockerfileIn = (dir: string, config?: string): string => dockerfileOf(readImageProject(dir, config));
const warningsIn = (dir: string): readonly string[] => readImageProject(dir, undefined).warnings;
const server = `svc-server==${packageVersion()}`;

describe('the image of a project with Python files alone', () => {
  it('installs requirements.txt by pip before it copies the code, and the server as a Python package', () => {
    using project = createPythonSample({ 'requirements.txt': 'langgraph==1.2.24\n' });
    const dockerfile = dockerfileIn(project.dir);
    expect(dockerfile).toContain('FROM python:3.12-slim AS base\n\nFROM base AS install\nWORKDIR /app\n');
    expect(dockerfile).toContain(`COPY requirements.txt ./
RUN python3 -m venv /app/.venv
RUN --mount=type=secret,id=netrc,target=/root/.netrc /app/.venv/bin/pip install --disable-pip-version-check -r requirements.txt
# The server, unless the list of packages has it.
RUN test -x /app/.venv/bin/svc || /app/.venv/bin/pip install --disable-pip-version-check ${server}
`);
    expect(dockerfile).toContain('ENV VIRTUAL_ENV=/app/.venv PATH=/app/.venv/bin:$PATH\n');
    expect(dockerfile).toContain('USER 1000:1000\n');
    expect(dockerfile).toContain('CMD ["/app/.venv/bin/svc","health"]\nENTRYPOINT ["/app/.venv/bin/svc"]\n');
    expect(dockerfile).not.toMatch(/npm|FROM node/);
    expect(warningsIn(project.dir)).toEqual([]);
  });

  it.each([
    ['another list', '-r more.txt'],
    ['the project itself', '-e .'],
    ['a folder', './tools'],
    ['a file', 'tools @ file:///app/tools.tar.gz'],
  ])('copies the project first when requirements.txt names %s', (_, line) => {
    using project = createPythonSample({ 'requirements.txt': `langgraph\n${line}\n` });
    expect(dockerfileIn(project.dir)).toContain('WORKDIR /app\nCOPY . .\nRUN python3 -m venv');
  });

  it('installs the lock file of uv, without packages for development', () => {
    using project = createPythonSample({ 'uv.lock': '', 'pyproject.toml': '[project]\nname = "agent"\n' });
    const dockerfile = dockerfileIn(project.dir);
    expect(dockerfile).toContain('RUN python3 -m venv /opt/tools && /opt/tools/bin/pip install uv\n');
    expect(dockerfile).toContain('COPY pyproject.toml uv.lock ./\n');
    expect(dockerfile).toMatch(
      /uv sync --locked --no-dev --no-install-project\nCOPY \. \.\nRUN .*uv sync --locked --no-dev\n/,
    );
    expect(dockerfile).toContain('|| /opt/tools/bin/uv pip install --python /app/.venv svc-server');
  });

  it('installs the lock file of poetry', () => {
    using project = createPythonSample({ 'poetry.lock': '', 'pyproject.toml': '' });
    const dockerfile = dockerfileIn(project.dir);
    expect(dockerfile).toContain('COPY pyproject.toml poetry.lock ./\n');
    expect(dockerfile).toMatch(
      /poetry install --only main .*--no-root\nCOPY \. \.\nRUN .*poetry install --only/,
    );
  });

  it('installs the member of a uv workspace that has the config file, or the one that "source" names', () => {
    using project = createPythonSample({
      'uv.lock': '',
      'pyproject.toml': '[tool.uv.workspace]\nmembers = ["agents/*"]\n',
      'agents/shop/agent.py': '',
      'agents/shop/pyproject.toml': '[project]\nname = "shop"\n',
      'agents/shop/langgraph.json': { graphs: { agent: './agent.py:graph' } },
      'agents/shop/named.json': {
        compat: 'langgraph',
        graphs: { agent: './agent.py:graph' },
        source: { kind: 'uv', root: '../..', package: 'shop' },
      },
    });
    expect(dockerfileIn(project.dir, 'agents/shop')).toMatch(
      /WORKDIR \/app\nCOPY \. \.\nWORKDIR \/app\/agents\/shop\nRUN .*uv sync --locked --no-dev\nWORKDIR \/app\n/,
    );
    const named = dockerfileIn(project.dir, 'agents/shop/named.json');
    expect(named).toContain('uv sync --locked --no-dev --package shop\n');
    expect(named).toContain('WORKDIR /app/agents/shop\nCOPY --from=install /app /app\n');
  });

  it('installs the packages and folders of "dependencies", and warns that their versions change', () => {
    using project = createPythonSample({
      'langgraph.json': {
        graphs: { agent: './agent.py:graph' },
        dependencies: ['./shop', './plain', 'langchain_openai', 'httpx>=0.28; sys_platform == "linux"'],
      },
      'shop/pyproject.toml': '',
      'plain/requirements.txt': 'langgraph',
    });
    expect(dockerfileIn(project.dir)).toContain(
      `install --disable-pip-version-check -e shop -r plain/requirements.txt langchain_openai 'httpx>=0.28; sys_platform == "linux"'\n`,
    );
    expect(warningsIn(project.dir)).toEqual([expect.stringContaining('has no list of package versions')]);
  });

  it('uses the keys of langgraph.json for images, and names those that mean nothing here', () => {
    using project = createPythonSample({
      'requirements.txt': '',
      'pip.conf': '[global]\n',
      'langgraph.json': {
        graphs: { agent: './agent.py:graph' },
        python_version: '3.13',
        image_distro: 'bookworm',
        pip_installer: 'uv',
        pip_config_file: './pip.conf',
        dockerfile_lines: ['RUN apt-get update'],
        base_image: 'langchain/langgraph-api:3.13',
        keep_pkg_tools: true,
      },
    });
    const dockerfile = dockerfileIn(project.dir);
    expect(dockerfile).toContain('FROM python:3.13-slim-bookworm AS base\nRUN apt-get update\n');
    expect(dockerfile).toContain('ENV PIP_CONFIG_FILE=/app/pip.conf\n');
    expect(dockerfile).toContain('COPY requirements.txt pip.conf ./\n');
    expect(dockerfile).toContain('/opt/tools/bin/uv pip install --python /app/.venv -r requirements.txt\n');
    expect(warningsIn(project.dir)).toEqual([
      expect.stringContaining('base_image has no effect'),
      expect.stringContaining('keep_pkg_tools has no effect'),
    ]);
  });

  it('has the Python that .python-version names', () => {
    using project = createPythonSample({ 'requirements.txt': '', '.python-version': '3.14\n' });
    expect(dockerfileIn(project.dir)).toContain('FROM python:3.14-slim AS base');
  });

  it('ignores a package.json that does not name the server', () => {
    using project = createPythonSample({
      'requirements.txt': '',
      'package.json': { name: 'web' },
      ...npmLock,
    });
    expect(dockerfileIn(project.dir)).toContain('ENTRYPOINT ["/app/.venv/bin/svc"]');
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['there is no list of packages', {}, 'there is no list of Python packages'],
    ['Python is too old', { 'langgraph.json': { python_version: '3.9' } }, 'python_version'],
    [
      'the root of a uv project is wrong',
      { 'langgraph.json': { source: { kind: 'uv', root: 'x' } } },
      'no uv.lock',
    ],
    ['a dependency is outside', { 'langgraph.json': { dependencies: ['..'] } }, 'which an image build sees'],
    ['the file of pip is missing', { 'langgraph.json': { pip_config_file: 'x' } }, 'there is no file x'],
  ])('is refused with the reason when %s', (_, files, message) => {
    const config = {
      graphs: { agent: './agent.py:graph' },
      ...(files['langgraph.json'] as object | undefined),
    };
    const list = Object.keys(files).length === 0 ? {} : { 'requirements.txt': '' };
    using project = createPythonSample({ ...list, 'langgraph.json': config });
    expect(() => dockerfileIn(project.dir)).toThrow(message);
  });
});

describe('the image of a project with files of both languages', () => {
  it('installs both lists of packages, and starts the server with Node', () => {
    using project = createPythonSample({
      ...npmLock,
      'package.json': { dependencies: { '@svc/server': '0.1.0' } },
      'requirements.txt': '',
      'langgraph.json': { graphs: { agent: './agent.py:graph', other: './agent.ts:graph' } },
      'agent.ts': '',
    });
    const dockerfile = dockerfileIn(project.dir);
    expect(dockerfile).toMatch(
      /FROM node:24-slim AS node\nWORKDIR \/app\nCOPY package.json package-lock.json/,
    );
    expect(dockerfile).toContain('COPY --from=node /app /app\nCOPY . .\n');
    expect(dockerfile).toContain('FROM base\nCOPY --from=node /usr/local/bin/node /usr/local/bin/node\n');
    expect(dockerfile).toContain('ENTRYPOINT ["node","/app/node_modules/@svc/server/bin/svc.js"]');
    expect(dockerfile).not.toContain('svc-server');
  });
});

describe('svc build for a Python project', () => {
  it('leaves out environments, whatever their names, and caches', async () => {
    using project = createPythonSample({
      'requirements.txt': '',
      'env/pyvenv.cfg': '',
      '.venv/lib/x.py': '',
      '__pycache__/agent.pyc': '',
      '.netrc': 'password',
    });
    mkdirSync(join(project.dir, 'data'));
    const output = join(project.dir, 'out');
    await writeContext(readImageProject(project.dir, undefined), output, undefined);
    for (const name of ['env', '.venv', '__pycache__', '.netrc', 'out'])
      expect(existsSync(join(output, name))).toBe(false);
    for (const name of ['agent.py', 'requirements.txt', 'Dockerfile', 'data'])
      expect(existsSync(join(output, name))).toBe(true);
  });
});
