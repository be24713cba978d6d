// A private channel between the server process and a process that it has started. It is a file descriptor of its own and
// not Node's IPC: `process.send`, 'message' events and `process.disconnect` belong to the code that the process runs.
import { Socket } from 'node:net';
import { DefaultSerializer, deserialize } from 'node:v8';

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

// Messages as bytes: the length of a message in four bytes, then the message as V8's structured clone.
const headBytes = 4;
/** No message of svc is longer: other code has written to the channel. */
const frameBytesMax = 1024 ** 3;

/** The bytes are not frames, so the bytes that follow cannot be decoded either. */
export class BrokenFrame extends Error {
  override readonly name = 'BrokenFrame';
}

/** Throws for a message that cannot be cloned, such as one that holds a function. */
export const encodeFrame = (message: unknown): Buffer => {
  const serializer = new DefaultSerializer();
  serializer.writeRawBytes(Buffer.alloc(headBytes));
  serializer.writeHeader();
  serializer.writeValue(message);
  const frame = serializer.releaseBuffer();
  frame.writeUInt32LE(frame.length - headBytes);
  return frame;
};

/** Decodes bytes as they arrive; returns the messages that are complete. */
export class FrameDecoder {
  #chunks: Buffer[] = [];
  #size = 0;
  /** Bytes that are needed to decode the next message. */
  #wanted = headBytes;

  /** Throws BrokenFrame. */
  push(chunk: Buffer): unknown[] {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size < this.#wanted) return [];
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks, this.#size);
    const messages: unknown[] = [];
    let at = 0;
    this.#wanted = headBytes;
    while (bytes.length - at >= headBytes) {
      const length = bytes.readUInt32LE(at);
      if (length > frameBytesMax) throw new BrokenFrame(`a frame of ${length} bytes`);
      const end = at + headBytes + length;
      if (end > bytes.length) {
        this.#wanted = headBytes + length;
        break;
      }
      messages.push(decode(bytes.subarray(at + headBytes, end)));
      at = end;
    }
    this.#chunks = at === bytes.length ? [] : [bytes.subarray(at)];
    this.#size = bytes.length - at;
    return messages;
  }
}

const decode = (bytes: Buffer): unknown => {
  try {
    return deserialize(bytes);
  } catch (cause) {
    throw new BrokenFrame('a frame that holds no message', { cause });
  }
};
