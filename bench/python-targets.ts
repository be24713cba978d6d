// What bench:python compares: the engine alone, this server, the stock server in memory, and Aegra with the PostgreSQL of this server.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { createClient } from '@svc/sdk';
import pg from 'pg';
import { memoryOfTree, startMeasured } from './processes.ts';
import { startProgram, type Target } from './targets.ts';

/** Runs of one graph. */
export interface Work {
  graph: string;
  input: object;
  count: number;
  /** How many run at the same time. */
  clients: number;
  /** Each run has a new thread, or all have this one. */
  thread?: string;
  /** The runs are streamed, and their times are those of their first tokens. */
  streams: boolean;
}

export interface Measurement {
  /** Of each run. */
  ms: number[];
  tookMs: number;
  cpuMs: number;
}

export interface PythonTarget extends AsyncDisposable {
  /** Until it is ready. */
  startMs: number;
  measure(work: Work): Promise<Measurement>;
  /** Megabytes of the processes that execute graphs; those of all. */
  memoryMb(): { executors: number; all: number };
}

const folder = fileURLToPath(new URL('./python', import.meta.url));

const interpreter = (environment: string): string => join(environment, 'bin', 'python3');

export const startEngine = async (environment: string): Promise<PythonTarget> => {
  const began = performance.now();
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(
    interpreter(environment),
    [join(folder, 'bare_engine.py')],
    {
      cwd: folder,
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const read = async (): Promise<unknown> => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error('The engine has ended');
    return JSON.parse(value as string);
  };
  await read();
  return {
    startMs: performance.now() - began,
    measure: async (work) => {
      child.stdin.write(`${JSON.stringify(work)}\n`);
      return (await read()) as Measurement;
    },
    memoryMb: () => {
      const executors = memoryOfTree(child.pid ?? 0);
      return { executors, all: executors };
    },
    [Symbol.asyncDispose]: async () => {
      child.stdin.end();
      await new Promise((resolve) => child.once('exit', resolve));
    },
  };
};

/** One run. Returns its milliseconds, until its end or its first token. */
const run = async ({ client }: Target, work: Work): Promise<number> => {
  const { graph, input, thread = randomUUID(), streams } = work;
  const began = performance.now();
  const body = { input, if_not_exists: 'create' as const };
  if (!streams) {
    await client.runs.wait(thread, graph, body);
    return performance.now() - began;
  }
  let first = 0;
  for await (const { event } of client.runs.stream(thread, graph, { ...body, stream_mode: 'messages-tuple' }))
    if (event.startsWith('messages')) first ||= performance.now() - began;
  if (first === 0) throw new Error(`${graph} has streamed no token`);
  return first;
};

const measureRuns = async (target: Target, work: Work): Promise<Measurement> => {
  const ms: number[] = [];
  const cpu = target.cpuMs();
  const began = performance.now();
  const client = async (): Promise<void> => {
    for (let done = 0; done < work.count / work.clients; done++) ms.push(await run(target, work));
  };
  await Promise.all(Array.from({ length: work.clients }, client));
  return { ms, tookMs: performance.now() - began, cpuMs: target.cpuMs() - cpu };
};

/** `postmaster`: the process of its PostgreSQL. */
export const startSvc = async (
  environment: string,
  dataDir: string,
): Promise<PythonTarget & { postmaster: number }> => {
  const server = await startMeasured(dataDir, {
    project: './python/langgraph.json',
    env: { VIRTUAL_ENV: environment },
  });
  const pidFile = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8');
  const target = {
    client: createClient({ apiUrl: server.url }),
    url: server.url,
    cpuMs: () => server.cpuMs(),
    [Symbol.asyncDispose]: () => server.stop(),
  };
  return {
    startMs: server.startMs,
    postmaster: Number(pidFile.split('\n')[0]),
    measure: (work) => measureRuns(target, work),
    memoryMb: () => {
      const { server: own, executors, python, database } = server.allMb();
      return { executors: executors + python, all: own + executors + python + database };
    },
    [Symbol.asyncDispose]: target[Symbol.asyncDispose],
  };
};

const pythonTarget = (
  target: Awaited<ReturnType<typeof startProgram>>,
  others: number[] = [],
): PythonTarget => ({
  startMs: target.startMs,
  measure: (work) => measureRuns(target, work),
  memoryMb: () => ({ executors: memoryOfTree(target.pid), all: memoryOfTree(target.pid, ...others) }),
  [Symbol.asyncDispose]: () => target[Symbol.asyncDispose](),
});

/** With as many jobs as the measurements have clients: by default it executes fewer runs at a time. */
export const startStock = async (environment: string, port: number): Promise<PythonTarget> => {
  const args = ['dev', '--no-browser', '--no-reload', '--n-jobs-per-worker', '64', '--port', String(port)];
  // It stores its state in the folder of the project.
  const project = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  for (const file of ['graph.py', 'langgraph.json']) cpSync(join(folder, file), join(project, file));
  const stock = pythonTarget(
    await startProgram({
      name: 'The stock server',
      command: join(environment, 'bin', 'langgraph'),
      args,
      cwd: project,
      env: { LANGSMITH_TRACING: 'false', LANGGRAPH_CLI_NO_ANALYTICS: '1' },
      url: `http://127.0.0.1:${port}`,
    }),
  );
  return {
    ...stock,
    [Symbol.asyncDispose]: async () => {
      await stock[Symbol.asyncDispose]();
      rmSync(project, { recursive: true, force: true });
    },
  };
};

/** With a database of its own in the PostgreSQL of svc, and without Redis: one process, as the stock server. */
export const startAegra = async (
  environment: string,
  { port, dataDir, postmaster }: { port: number; dataDir: string; postmaster: number },
): Promise<PythonTarget> => {
  const db = new pg.Client({ host: dataDir, port: 5432, user: 'svc', database: 'postgres' });
  await db.connect();
  const { rowCount } = await db.query(`select from pg_database where datname = 'aegra'`);
  if (rowCount === 0) await db.query('create database aegra');
  await db.end();
  const args = ['-m', 'uvicorn', 'aegra_api.main:app', '--port', String(port), '--log-level', 'error'];
  return pythonTarget(
    await startProgram({
      name: 'Aegra',
      command: interpreter(environment),
      args,
      cwd: folder,
      env: {
        AEGRA_CONFIG: join(folder, 'langgraph.json'),
        DATABASE_URL: `postgresql://svc@/aegra?host=${dataDir}&port=5432`,
        LOG_LEVEL: 'ERROR',
      },
      url: `http://127.0.0.1:${port}`,
      probe: '/health',
      others: [postmaster],
    }),
    [postmaster],
  );
};
