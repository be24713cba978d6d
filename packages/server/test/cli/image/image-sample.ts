// Projects of which images are made: a config file, a package.json and a lock file, without packages.
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
export function createImageSample(files: Record<string, unknown> = {}): ImageSample {
  const dir = mkdtempSync(join(tmpdir(), 'svc image '));
  const write = (name: string, content: unknown): void => {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), typeof content === 'string' ? content : JSON.stringify(content));
  };
  const all: Record<string, unknown> = {
    'svc.json': { graphs: { agent: './agent.ts:graph' } },
    'agent.ts': 'export const graph = {};\n',
    'package.json': manifest,
    ...files,
  };
  for (const [name, content] of Object.entries(all)) write(name, content);
  return { dir, write, [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }) };
}

export const npmLock = { 'package-lock.json': { lockfileVersion: 3, packages: {} } };
