// A Python process of this Node process, with a private channel to it. The program is the package svc_executor.
//
//   started ──setup──▶ ready ──kill(), its own exit, or a broken channel──▶ ended
//
// On Windows, Node makes the channel a named pipe, which Python's event loop cannot use: Python projects need Linux or macOS.
import { spawn, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { delimiter } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { packageFile } from '../../config/package-files.ts';
import {
  BrokenFrame,
  encodeFrame,
  type Frame,
  FrameDecoder,
  type FrameHeader,
  protocolVersion,
} from './frames.ts';

/** The file descriptor of the channel in the Python process. */
const channelFd = 3;
/** How long to wait, after the exit of a process, for its channel to close: a child of the process may hold the other end. */
const closingMsMax = 1_000;
/** A longer line is reported in pieces. */
const lineCharsMax = 8_000;

export type PythonStream = 'stdout' | 'stderr';

export interface PythonLaunch {
  /** The interpreter: an absolute path, or a name in the PATH. */
  python: string;
  env: Readonly<Record<string, string | undefined>>;
  cwd?: string | undefined;
}

export interface PythonProcessOptions extends PythonLaunch {
  /** The first frame without kind and protocol: `work`, `paths`, and what the work needs. */
  setup: { work: string; paths: readonly string[]; [field: string]: unknown };
  /** A process that launchPython() has started with the same interpreter. Without it, one is started. */
  started?: ChildProcess | undefined;
  /** Frames other than replies. Returns the reply of a call. */
  onFrame: (frame: Frame) => Promise<PythonReply> | PythonReply | void;
  /** A line that the process has printed. */
  onLine: (line: string, stream: PythonStream) => void;
  /** Called once, after the last frame, when the process has ended or could not be started. */
  onEnd: (reason: string) => void;
}

export interface PythonReply {
  header?: Record<string, unknown>;
  parts?: readonly (string | Buffer)[];
}

/** The process could not answer a call. `type`: the class of Python's error. */
export class PythonCallError extends Error {
  override readonly name = 'PythonCallError';
  readonly type: string | undefined;
  constructor(message: string, type?: string) {
    super(message);
    this.type = type;
  }
}

/** The process has ended, so nothing can be asked of it. */
export class PythonEnded extends Error {
  override readonly name = 'PythonEnded';
}

/** Starts a process that waits for its setup. */
export const launchPython = ({ python, env, cwd }: PythonLaunch): ChildProcess => {
  const own = fileURLToPath(packageFile('python'));
  const path = env['PYTHONPATH'] ? `${own}${delimiter}${env['PYTHONPATH']}` : own;
  // -P: no module of the working directory replaces one of the standard library.
  return spawn(python, ['-P', '-X', 'utf8', '-u', '-m', 'svc_executor'], {
    env: { ...env, PYTHONPATH: path },
    cwd,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
};

interface Waiting {
  resolve: (frame: Frame) => void;
  reject: (error: Error) => void;
}

export class PythonProcess {
  /** The header of the first reply: versions, and what the work reports. Rejects when the process ends or fails before. */
  readonly ready: Promise<FrameHeader>;
  /** Why the setup has failed, and the files whose change may mend it. */
  setupError: { message: string; files: string[] } | undefined;
  readonly #options: PythonProcessOptions;
  readonly #child: ChildProcess;
  /** Undefined when the process could not be started: an 'error' event follows. */
  readonly #socket: Socket | undefined;
  readonly #decoder = new FrameDecoder();
  readonly #waiting = new Map<number, Waiting>();
  readonly #ended: Promise<void>;
  #calls = 0;
  #isCorked = false;
  #exit: string | undefined;
  #broken: string | undefined;
  #isChannelClosed = false;
  #hasEnded = false;
  #becomeReady!: (header: FrameHeader) => void;
  #failReady!: (error: Error) => void;
  #resolveEnded!: () => void;

  constructor(options: PythonProcessOptions) {
    this.#options = options;
    this.ready = new Promise((resolve, reject) => {
      this.#becomeReady = resolve;
      this.#failReady = reject;
    });
    // Without a caller that waits for it, the rejection is reported by onEnd alone.
    this.ready.catch(() => undefined);
    this.#ended = new Promise((resolve) => (this.#resolveEnded = resolve));
    this.#child = options.started ?? launchPython(options);
    this.#readLines(this.#child.stdout, 'stdout');
    this.#readLines(this.#child.stderr, 'stderr');
    this.#socket = this.#openChannel();
    this.#child.once('exit', (code, signal) =>
      this.#onExit(signal ? `signal ${signal}` : `exit code ${code}`),
    );
    this.#child.once('error', (error) => this.#onExit(error.message));
    this.send({ kind: 'setup', protocol: protocolVersion, ...options.setup });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isAlive(): boolean {
    return !this.#hasEnded;
  }

  /**
   * Frames of one turn of the event loop are sent together at its end. A frame that cannot be delivered is dropped: onEnd follows. Throws
   * FrameTooLarge.
   */
  send(header: FrameHeader, parts?: readonly (string | Buffer)[]): void {
    const socket = this.#socket;
    const frame = encodeFrame(header, parts);
    if (!socket || socket.destroyed || !socket.writable) return;
    if (!this.#isCorked) {
      this.#isCorked = true;
      socket.cork();
      process.nextTick(() => {
        this.#isCorked = false;
        socket.uncork();
      });
    }
    socket.write(frame);
  }

  /** Sends a frame and waits for the reply. Rejects with a PythonCallError, or with PythonEnded. */
  call(header: FrameHeader, parts?: readonly (string | Buffer)[]): Promise<Frame> {
    if (this.#hasEnded) return Promise.reject(new PythonEnded(this.#reason));
    const call = ++this.#calls;
    return new Promise((resolve, reject) => {
      this.send({ ...header, call }, parts);
      this.#waiting.set(call, { resolve, reject });
    });
  }

  /** Ends the process at once, whatever it does. */
  kill(): void {
    if (this.#exit === undefined) this.#child.kill('SIGKILL');
  }

  /** Ends the process and resolves when it has ended. */
  async end(): Promise<void> {
    this.kill();
    await this.#ended;
  }

  get #reason(): string {
    return `The Python process has ended (${this.#broken ?? this.#exit ?? 'its channel was closed'})`;
  }

  #openChannel(): Socket | undefined {
    const stdio = this.#child.stdio as ChildProcess['stdio'] | undefined;
    const socket = stdio?.[channelFd] as Socket | null | undefined;
    if (!socket) return undefined;
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const frame of this.#decoder.push(chunk)) this.#receive(frame);
      } catch (error) {
        if (!(error instanceof BrokenFrame)) throw error;
        this.#broken = `it wrote to the server's channel: ${error.message}`;
        socket.destroy();
      }
    });
    // A process that has ended resets the connection; its exit is reported anyway.
    socket.on('error', () => undefined);
    socket.on('end', () => socket.destroy());
    socket.once('close', () => this.#onChannelClosed());
    return socket;
  }

  #readLines(stream: Readable | null, name: PythonStream): void {
    if (!stream) return;
    let rest = '';
    const emit = (line: string): void => this.#options.onLine(line.trimEnd(), name);
    stream.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) emit(line);
      if (rest.length <= lineCharsMax) return;
      emit(rest);
      rest = '';
    });
    stream.once('end', () => rest !== '' && emit(rest));
  }

  #receive(frame: Frame): void {
    const { header } = frame;
    if (header.kind === 'reply') return this.#settle(frame);
    if (header.kind === 'ready') return this.#becomeReady(header);
    if (header.kind === 'error') {
      const { message, files } = header;
      this.#broken = String(message);
      this.setupError = { message: this.#broken, files: files as string[] };
      return this.kill();
    }
    void this.#answer(frame);
  }

  #settle(frame: Frame): void {
    const { call = 0, error, error_type } = frame.header;
    const waiting = this.#waiting.get(call);
    this.#waiting.delete(call);
    if (error === undefined) waiting?.resolve(frame);
    else
      waiting?.reject(
        new PythonCallError(
          typeof error === 'string' ? error : 'the call has failed',
          typeof error_type === 'string' ? error_type : undefined,
        ),
      );
  }

  async #answer(frame: Frame): Promise<void> {
    const { call } = frame.header;
    if (call === undefined) return void this.#options.onFrame(frame);
    try {
      const { header = {}, parts } = (await this.#options.onFrame(frame)) ?? {};
      this.send({ ...header, kind: 'reply', call }, parts);
    } catch (error) {
      this.send({ kind: 'reply', call, error: error instanceof Error ? error.message : String(error) });
    }
  }

  #onExit(reason: string): void {
    this.#exit ??= reason;
    if (this.#isChannelClosed || !this.#socket) return this.#end();
    setTimeout(() => this.#end(), closingMsMax).unref();
  }

  /** A process without its channel is useless: it ends itself, or is killed. */
  #onChannelClosed(): void {
    this.#isChannelClosed = true;
    if (this.#exit === undefined) this.#child.kill('SIGKILL');
    else this.#end();
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#socket?.destroy();
    const ended = new PythonEnded(this.#reason);
    for (const { reject } of this.#waiting.values()) reject(ended);
    this.#waiting.clear();
    this.#failReady(ended);
    this.#options.onEnd(this.#broken ?? this.#exit ?? '');
    this.#resolveEnded();
  }
}
