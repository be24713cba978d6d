// The Python process of an executor, and the runs, updates and reads of its graphs.
import type { PythonLaunch } from '../../config/project/python.ts';
import type { Frame } from './frames.ts';
import type { OwnAddress } from '../executor/own-address.ts';
import { logPython, type PythonLogger } from './python-log.ts';
import { PythonLoop } from './python-loop.ts';
import { PythonProcess, type PythonReply } from './python-process.ts';
import { PythonSession, type SessionParts } from './python-session.ts';

export interface PythonHostOptions {
  python: PythonLaunch;
  /** Sources by graph id. */
  sources: Record<string, { file: string; export: string }>;
  env: Readonly<Record<string, string | undefined>>;
  logger: PythonLogger;
  /** Of the server, for clients without a URL. */
  address: OwnAddress;
  /** Files of the project that were imported. */
  onModules: (files: string[]) => void;
  /** The process has ended after it was ready: this process cannot go on. */
  onLost: (reason: string) => void;
}

/** What is known of a graph without asking its process. */
export interface GraphLayout {
  /** Names of the channels of its state. A text: the state is the value of this channel. */
  keys: string | string[];
  /** Names of the channels that start each node. */
  nodes: Record<string, string[]>;
  has_memory: boolean;
  recursion_limit?: number | null;
  /** By path: `outer|inner`. */
  subgraphs?: Record<string, GraphLayout>;
}

export interface GraphFailure {
  name: string;
  message: string;
  stack?: string;
}

/** A step of a run, for its trace. */
export interface TracedStep {
  id: string;
  parent_run_id?: string;
  inputs: unknown;
  outputs?: unknown;
  [field: string]: unknown;
}

export interface StreamHandler {
  onLayout: (layout: GraphLayout) => void;
  onChunks: (chunks: unknown, parts: readonly Buffer[]) => void;
  onTrace: (event: 'start' | 'end', step: TracedStep) => void;
  onFailure: (error: unknown) => void;
}

interface Followed extends StreamHandler {
  onEnd: (error: GraphFailure | undefined) => void;
  onLost: (error: Error) => void;
}

export class PythonHost {
  readonly process: PythonProcess;
  /** Its load, for the server process. */
  readonly loop: PythonLoop;
  readonly #options: PythonHostOptions;
  readonly #sessions = new Map<number, PythonSession>();
  readonly #followed = new Map<number, Followed>();
  #isReady = false;
  #numbers = 0;

  constructor(options: PythonHostOptions) {
    const { python, sources, env, logger } = options;
    this.#options = options;
    this.process = new PythonProcess({
      python: python.interpreter,
      env,
      setup: { work: 'graphs', paths: python.paths, graphs: sources, stored_classes: python.storedClasses },
      onFrame: (frame) => this.#receive(frame),
      onLine: (line, stream) => logger.info({ python: this.process.pid, stream }, line),
      onEnd: (reason) => this.#onEnd(reason),
    });
    this.loop = new PythonLoop(
      () => this.process.call({ kind: 'ping' }),
      () => this.#sessions.size > 0,
    );
  }

  /** Imports all graphs. Rejects when the process does not start. */
  async load(): Promise<Frame> {
    await this.process.ready;
    this.#isReady = true;
    return this.process.call({ kind: 'load' });
  }

  /** The layout of a graph that a function makes. */
  async layout(graph: string): Promise<GraphLayout> {
    const { header } = await this.process.call({
      kind: 'layout',
      graph,
      access: 'threads.read',
      config: { configurable: {} },
    });
    return header['layout'] as GraphLayout;
  }

  open(parts: SessionParts): PythonSession {
    const session = new PythonSession(++this.#numbers, parts);
    this.#sessions.set(session.number, session);
    return session;
  }

  close(session: PythonSession): void {
    this.#sessions.delete(session.number);
    this.#followed.delete(session.number);
  }

  /** Rejects with what the saver has thrown, or with the error of the Python process. */
  async withSession<T>(parts: SessionParts, work: (session: PythonSession) => Promise<T>): Promise<T> {
    let failure: { error: unknown } | undefined;
    const session = this.open({ ...parts, onFailure: (error) => (failure ??= { error }) });
    try {
      return await work(session);
    } catch (error) {
      throw failure === undefined ? error : failure.error;
    } finally {
      this.close(session);
    }
  }

  /** Calls the handler until the graph of the session has ended. Returns the error of the graph. */
  follow(session: PythonSession, handler: StreamHandler): Promise<GraphFailure | undefined> {
    return new Promise((resolve, reject) => {
      this.#followed.set(session.number, { ...handler, onEnd: resolve, onLost: reject });
    });
  }

  #receive(frame: Frame): Promise<PythonReply> | void {
    const { header, parts } = frame;
    if (header.kind === 'log') return logPython(this.#options.logger, header, { python: this.process.pid });
    if (header.kind === 'modules') return this.#options.onModules(header['files'] as string[]);
    if (header.kind === 'address') return this.#options.address.url.then((url) => ({ header: { url } }));
    const number = header['session'] as number;
    const followed = this.#followed.get(number);
    switch (header.kind) {
      case 'chunks':
        if (followed) this.#take(followed, header['chunks'], parts);
        return;
      case 'trace':
        followed?.onTrace(header['event'] as 'start' | 'end', readStep(frame));
        return;
      case 'layout':
        followed?.onLayout(header['layout'] as GraphLayout);
        return;
      case 'end':
        followed?.onEnd(header['error'] as GraphFailure | undefined);
        return;
    }
    const session = this.#sessions.get(number);
    const answer =
      session === undefined ? Promise.reject(new Error('the run has ended')) : session.receive(frame);
    // A frame that is no call has nobody to tell: the session has reported the failure.
    if (header.call === undefined) answer.catch(() => undefined);
    return answer;
  }

  #take(followed: Followed, chunks: unknown, parts: readonly Buffer[]): void {
    try {
      followed.onChunks(chunks, parts);
    } catch (error) {
      followed.onFailure(error);
    }
  }

  #onEnd(reason: string): void {
    // First, so that no run ends with an error: another attempt continues it.
    if (this.#isReady) this.#options.onLost(reason);
    else this.#options.logger.error({ reason }, 'the Python process could not start');
    const error = new Error(`The Python process has ended: ${reason}`);
    for (const { onLost } of this.#followed.values()) onLost(error);
  }
}

const readStep = ({ header, parts }: Frame): TracedStep => {
  const payloads = Object.entries(header['payloads'] as Record<string, number>);
  const values = payloads.map(([name, part]) => [name, JSON.parse(String(parts[part])) as unknown] as const);
  return { ...(header['run'] as TracedStep), ...Object.fromEntries(values) };
};
