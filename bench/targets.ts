// The servers that are compared: this one from the build, and the development server of @langchain/langgraph-cli where it is installed.
import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, type Client } from '@svc/sdk';
import { cpuOfTree, startMeasured } from './processes.ts';

export interface Target extends AsyncDisposable {
  client: Client;
  url: string;
  /** CPU milliseconds so far of all its processes. */
  cpuMs(): number;
  /** The data directory, where the target has a database. */
  dataDir?: string;
}

export const startSvc = async (flags: string[] = []): Promise<Target> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const server = await startMeasured(dataDir, { command: '../build/packages/server/bin/svc.js', flags });
  return {
    client: createClient({ apiUrl: server.url }),
    url: server.url,
    dataDir,
    cpuMs: () => server.cpuMs(),
    [Symbol.asyncDispose]: async () => {
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
};

const port = 20_240;

export interface Program {
  name: string;
  command: string;
  args: readonly string[];
  cwd: string;
  env?: Readonly<Record<string, string>>;
  url: string;
  /** Responds once it serves; default `/ok`. */
  probe?: string;
  /** Further processes that work for it, such as those of its database. */
  others?: readonly number[];
}

/** A server that is not svc. Resolves when it responds. */
export const startProgram = async (program: Program): Promise<Target & { startMs: number; pid: number }> => {
  const { name, command, args, cwd, env, url, probe = '/ok', others = [] } = program;
  const began = performance.now();
  const child: ChildProcess = spawn(command, args, {
    cwd,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, LOG_LEVEL: 'error', ...env },
  });
  while (
    !(await fetch(url + probe).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (child.exitCode !== null) throw new Error(`${name} did not start`);
    await sleep(20);
  }
  const pid = child.pid ?? 0;
  return {
    client: createClient({ apiUrl: url }),
    url,
    pid,
    startMs: performance.now() - began,
    cpuMs: () => cpuOfTree(pid, ...others),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGINT');
      while (child.exitCode === null && child.signalCode === null) await sleep(20);
    },
  };
};

/** `folder`: a project in which @langchain/langgraph-cli, @langchain/langgraph and @langchain/core are installed. */
export const startPeer = async (folder: string): Promise<Target> => {
  const program = join(folder, 'node_modules', '.bin', 'langgraphjs');
  if (!existsSync(program)) throw new Error(`@langchain/langgraph-cli is not installed in ${folder}`);
  // Inside of the folder, so that the graphs import its packages.
  const project = mkdtempSync(join(folder, 'svc-bench-'));
  copyFileSync(new URL('./graph.ts', import.meta.url), join(project, 'graph.ts'));
  const config = JSON.parse(readFileSync(new URL('./svc.json', import.meta.url), 'utf8')) as object;
  const file = join(project, 'langgraph.json');
  writeFileSync(file, JSON.stringify({ node_version: '20', ...config }));
  const flags = ['--no-browser', '--no-reload', '--port', String(port), '--config', file];
  const peer = await startProgram({
    name: 'The development server',
    command: process.execPath,
    args: [program, 'dev', ...flags],
    cwd: project,
    url: `http://localhost:${port}`,
  });
  return {
    ...peer,
    [Symbol.asyncDispose]: async () => {
      await peer[Symbol.asyncDispose]();
      rmSync(project, { recursive: true, force: true });
    },
  };
};
