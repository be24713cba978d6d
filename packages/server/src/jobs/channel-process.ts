// A child process with a private channel to it.
//
//   started ──becomeReady()──▶ ready ──kill(), its own exit, or a broken channel──▶ ended
import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { channelFd, type Framing, ProcessChannel } from './process-channel.ts';

/** How long to wait, after the exit of a process, for its channel to close: a child of the process may hold the other end. */
const closingMsMax = 1_000;

/** `Ready`: what the process reports when it is ready. */
export abstract class ChannelProcess<Sent, Received, Ready> {
  /** Rejects with endError() when the process ends before it is ready. */
  readonly ready: Promise<Ready>;
  readonly #child: ChildProcess;
  /** Undefined when the process could not be started because no file descriptors were left: an 'error' event follows. */
  readonly #channel: ProcessChannel<Sent, Received> | undefined;
  readonly #ended: Promise<void>;
  #exit: string | undefined;
  #broken: string | undefined;
  #isChannelClosed = false;
  #hasEnded = false;
  #becomeReady!: (report: Ready) => void;
  #failReady!: (error: Error) => void;
  #resolveEnded!: () => void;

  constructor(child: ChildProcess, framing: Framing<Sent, Received>) {
    this.ready = new Promise((resolve, reject) => {
      this.#becomeReady = resolve;
      this.#failReady = reject;
    });
    // Without a caller that waits for it, the rejection is reported by onEnded() alone.
    this.ready.catch(() => undefined);
    this.#ended = new Promise((resolve) => (this.#resolveEnded = resolve));
    this.#child = child;
    const socket = (child.stdio as ChildProcess['stdio'] | undefined)?.[channelFd] as Socket | undefined;
    this.#channel =
      socket &&
      new ProcessChannel(socket, framing, {
        onMessage: (message) => this.onMessage(message),
        onClose: (broken) => this.#onChannelClosed(broken?.message),
      });
    child.once('exit', (code, signal) => this.#onExit(signal ? `signal ${signal}` : `exit code ${code}`));
    child.once('error', (error) => this.#onExit(error.message));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isAlive(): boolean {
    return !this.#hasEnded;
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

  protected abstract onMessage(message: Received): void;

  /** Called once, after the last message, when the process has ended or could not be started. */
  protected abstract onEnded(reason: string): void;

  /** The error of those who wait for `ready`. */
  protected abstract endError(reason: string): Error;

  protected becomeReady(report: Ready): void {
    this.#becomeReady(report);
  }

  /** A message that cannot be delivered is dropped: onEnded() follows. */
  protected sendMessage(message: Sent): void {
    this.#channel?.send(message);
  }

  /** Ends the process for this reason. */
  protected fail(reason: string): void {
    this.#broken = reason;
    this.kill();
  }

  /** Why the process has ended; empty while that is not known. */
  protected get endReason(): string {
    return this.#broken ?? this.#exit ?? '';
  }

  #onExit(reason: string): void {
    this.#exit ??= reason;
    if (this.#isChannelClosed || !this.#channel) return this.#end();
    setTimeout(() => this.#end(), closingMsMax).unref();
  }

  /** A process without its channel is useless: it ends itself, or is killed. */
  #onChannelClosed(broken: string | undefined): void {
    this.#isChannelClosed = true;
    if (broken !== undefined) this.#broken = `it wrote to the server's channel: ${broken}`;
    if (this.#exit === undefined) this.#child.kill('SIGKILL');
    else this.#end();
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#channel?.close();
    const reason = this.endReason;
    this.#failReady(this.endError(reason));
    this.onEnded(reason);
    this.#resolveEnded();
  }
}
