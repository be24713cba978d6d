// A Python process of this Node process, with a private channel to it. The program is the package svc_executor.
//
// On Windows, Node makes the channel a named pipe, which Python's event loop cannot use: Python projects need Linux or macOS.
import { spawn, type ChildProcess } from 'node:child_process';
import { delimiter } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { packageFile } from '../../config/package-files.ts';
import { ChannelProcess } from '../../jobs/channel-process.ts';
import { type Frame, type FrameHeader, protocolVersion, pythonFraming } from './frames.ts';

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

/** The process has ended, so it answers no call. */
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

/** `ready` resolves with the header of the first frame: versions, and what the work reports. */
export class PythonProcess extends ChannelProcess<Frame<string | Buffer>, Frame, FrameHeader> {
  /** Why the setup has failed, and the files that may have to be changed. */
  setupError: { message: string; files: string[] } | undefined;
  readonly #options: PythonProcessOptions;
  readonly #waiting = new Map<number, Waiting>();
  #calls = 0;

  constructor(options: PythonProcessOptions) {
    const child = options.started ?? launchPython(options);
    super(child, pythonFraming);
    this.#options = options;
    this.#readLines(child.stdout, 'stdout');
    this.#readLines(child.stderr, 'stderr');
    this.send({ kind: 'setup', protocol: protocolVersion, ...options.setup });
  }

  /**
   * Frames of one turn of the event loop are sent together at its end. A frame that cannot be delivered is dropped: onEnd follows. Throws
   * FrameTooLarge.
   */
  send(header: FrameHeader, parts: readonly (string | Buffer)[] = []): void {
    this.sendMessage({ header, parts });
  }

  /** Sends a frame and waits for the reply. Rejects with a PythonCallError, or with PythonEnded. */
  call(header: FrameHeader, parts?: readonly (string | Buffer)[]): Promise<Frame> {
    if (!this.isAlive) return Promise.reject(this.endError(this.endReason));
    const call = ++this.#calls;
    return new Promise((resolve, reject) => {
      this.send({ ...header, call }, parts);
      this.#waiting.set(call, { resolve, reject });
    });
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

  protected override onMessage(frame: Frame): void {
    const { header } = frame;
    if (header.kind === 'reply') return this.#settle(frame);
    if (header.kind === 'ready') return this.becomeReady(header);
    if (header.kind === 'error') {
      const message = String(header['message']);
      this.setupError = { message, files: header['files'] as string[] };
      return this.fail(message);
    }
    void this.#answer(frame);
  }

  protected override onEnded(reason: string): void {
    const ended = this.endError(reason);
    for (const { reject } of this.#waiting.values()) reject(ended);
    this.#waiting.clear();
    this.#options.onEnd(reason);
  }

  protected override endError(reason: string): PythonEnded {
    return new PythonEnded(`The Python process has ended (${reason || 'its channel was closed'})`);
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
}
