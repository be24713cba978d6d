import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { svcCommand } from '../svc-command.ts';

const repository = fileURLToPath(new URL('../../../../', import.meta.url));

const graph = `
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
export const graph = new StateGraph(MessagesAnnotation)
  .addNode('reply', () => ({ messages: [{ role: 'assistant', content: 'hi' }] }))
  .addEdge('__start__', 'reply')
  .compile();
`;

export interface Project extends Disposable {
  dir: string;
  write(name: string, content: unknown): void;
}

/** A folder with a graph and a svc.json, which can import the packages of the repository. */
export function createProject(config: unknown = { graphs: { agent: './agent.ts:graph' } }): Project {
  const dir = mkdtempSync(join(tmpdir(), 'svc-cli-'));
  const write = (name: string, content: unknown): void =>
    writeFileSync(join(dir, name), typeof content === 'string' ? content : JSON.stringify(content));
  symlinkSync(join(repository, 'node_modules'), join(dir, 'node_modules'));
  write('agent.ts', graph);
  write('svc.json', config);
  return { dir, write, [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }) };
}

export interface CliProcess extends AsyncDisposable {
  pid: number;
  /** Everything printed so far, both streams. */
  output(): string;
  /** Resolves with the first match of the pattern in the output after `from`. */
  prints(pattern: RegExp, from?: number): Promise<RegExpExecArray>;
  exit: Promise<{ code: number | null; stdout: string; stderr: string }>;
}

/** The real CLI, with a minimal environment instead of this process's. */
export function runCli(args: string[], options: { cwd: string; env?: Record<string, string> }): CliProcess {
  const child = spawn(process.execPath, [svcCommand, ...args], {
    cwd: options.cwd,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const seen = { stdout: '', stderr: '', all: '' };
  const listeners = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      seen[name] += chunk;
      seen.all += chunk;
      for (const listener of listeners) listener();
    });
  }
  const exit = new Promise<Awaited<CliProcess['exit']>>((resolve) => {
    child.once('close', (code) => resolve({ code, stdout: seen.stdout, stderr: seen.stderr }));
  });
  return {
    pid: child.pid ?? 0,
    output: () => seen.all,
    prints: (pattern, from = 0) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(seen.all.slice(from));
          if (match === null) return;
          listeners.delete(look);
          resolve(match);
        };
        listeners.add(look);
        look();
        void exit.then(({ code }) => reject(new Error(`exit ${code} before ${pattern}: ${seen.all}`)));
      }),
    exit,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      await exit;
    },
  };
}
