// A private channel between the server process and a process that it has started. It is a file descriptor of its own and
// not Node's IPC: `process.send`, 'message' events and `process.disconnect` belong to the code that the process runs.
import { Socket } from 'node:net';
import { BrokenFrame, encodeFrame, FrameDecoder } from './frames.ts';

/** The file descriptor of the channel in the started process. */
export const channelFd = 3;

export interface ChannelEvents {
  onMessage: (message: unknown) => void;
  /** Called once, when the other side has closed its end, or when the bytes are no frames: then `broken` is the error. */
  onClose: (broken?: BrokenFrame) => void;
}

export class ProcessChannel {
  readonly #socket: Socket;
  #isCorked = false;

  constructor(socket: Socket, { onMessage, onClose }: ChannelEvents) {
    this.#socket = socket;
    const decoder = new FrameDecoder();
    let broken: BrokenFrame | undefined;
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const message of decoder.push(chunk)) onMessage(message);
      } catch (error) {
        if (!(error instanceof BrokenFrame)) throw error;
        broken = error;
        socket.destroy();
      }
    });
    // A process that has ended resets the connection; its exit is reported anyway.
    socket.on('error', () => undefined);
    socket.on('end', () => socket.destroy());
    socket.once('close', () => onClose(broken));
  }

  /**
   * Messages of one turn of the event loop are sent together at its end; an urgent one is sent at once, with those before it. Drops a message
   * that cannot be delivered any more. Throws when the message cannot be cloned.
   */
  send(message: unknown, isUrgent = false): void {
    const socket = this.#socket;
    const frame = encodeFrame(message);
    if (socket.destroyed || !socket.writable) return;
    if (!this.#isCorked) {
      // One system call for all messages of a turn.
      this.#isCorked = true;
      socket.cork();
      process.nextTick(() => {
        this.#isCorked = false;
        socket.uncork();
      });
    }
    socket.write(frame);
    if (!isUrgent) return;
    socket.uncork();
    socket.cork();
  }

  close(): void {
    this.#socket.destroy();
  }
}

/** The channel to the process that started this one as a ProgramProcess. */
export const openParentChannel = (events: ChannelEvents): ProcessChannel =>
  new ProcessChannel(new Socket({ fd: channelFd, readable: true, writable: true }), events);
