// Projects of which images are made: a config file and a list of packages, which are not installed.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface ImageSample extends Disposable {
  readonly dir: string;
  write(name: string, content: unknown): void;
}

const manifest = {
  name: 'my-agent',
  type: 'module',
  dependencies: { '@langchain/core': '1.4.0', '@langchain/langgraph': '1.7.3', '@svc/server': '0.1.0' },
};

/** `files` are written over those of a project with npm. */
export const createImageSample = (files: Record<string, unknown> = {}): ImageSample =>
  createSample({
    'svc.json': { graphs: { agent: './agent.ts:graph' } },
    'agent.ts': 'export const graph = {};\n',
    'package.json': manifest,
    ...files,
  });

/** `files` are written over those of a Python project, which names no packages. */
export const createPythonSample = (files: Record<string, unknown> = {}): ImageSample =>
  createSample({
    'langgraph.json': { graphs: { agent: './agent.py:graph' } },
    'agent.py': 'graph = None\n',
    ...files,
  });

function createSample(files: Record<string, unknown>): ImageSample {
  const dir = mkdtempSync(join(tmpdir(), 'svc image '));
  const write = (name: string, content: unknown): void => {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), typeof content === 'string' ? content : JSON.stringify(content));
  };
  for (const [name, content] of Object.entries(files)) write(name, content);
  return { dir, write, [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }) };
}

export const npmLock = { 'package-lock.json': { lockfileVersion: 3, packages: {} } };
