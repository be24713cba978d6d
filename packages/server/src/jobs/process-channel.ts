// A private channel between the server process and a process that it has started. It is a file descriptor of its own and
// not Node's IPC: `process.send`, 'message' events and `process.disconnect` belong to the code that the process runs.
import { Socket } from 'node:net';
import { DefaultSerializer, deserialize } from 'node:v8';

/** The file descriptor of the channel in the started process. */
export const channelFd = 3;

/** How messages become frames: a length in four bytes, little endian, then as many bytes. */
export interface Framing<Sent, Received> {
  /** The bytes of a frame, with its length. */
  encode: (message: Sent) => Buffer;
  /** The message of a frame, from the bytes after its length. Throws BrokenFrame. */
  decode: (bytes: Buffer) => Received;
  /** Limits of the length. Other code has written to the channel when a length is outside of them. */
  bytesMin: number;
  bytesMax: number;
}

export interface ChannelEvents<Received = unknown> {
  onMessage: (message: Received) => void;
  /** Called once, when the other side has closed its end, or when the bytes are no frames: then `broken` is the error. */
  onClose: (broken?: BrokenFrame) => void;
}

export class ProcessChannel<Sent = unknown, Received = unknown> {
  readonly #socket: Socket;
  readonly #encode: (message: Sent) => Buffer;
  #isCorked = false;

  constructor(
    socket: Socket,
    framing: Framing<Sent, Received>,
    { onMessage, onClose }: ChannelEvents<Received>,
  ) {
    this.#socket = socket;
    this.#encode = framing.encode;
    const decoder = new FrameDecoder(framing);
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
   * that cannot be delivered any more. Throws when the message cannot be encoded.
   */
  send(message: Sent, isUrgent = false): void {
    const socket = this.#socket;
    const frame = this.#encode(message);
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
  new ProcessChannel(new Socket({ fd: channelFd, readable: true, writable: true }), clones, events);

const lengthBytes = 4;

/** The bytes are not frames, so the bytes that follow cannot be decoded either. */
export class BrokenFrame extends Error {
  override readonly name = 'BrokenFrame';
}

/** Decodes bytes as they arrive; returns the messages that are complete. */
export class FrameDecoder<Received> {
  readonly #framing: Omit<Framing<never, Received>, 'encode'>;
  #chunks: Buffer[] = [];
  #size = 0;
  /** Bytes that are needed to decode the next message. */
  #wanted = lengthBytes;

  constructor(framing: Omit<Framing<never, Received>, 'encode'>) {
    this.#framing = framing;
  }

  /** Throws BrokenFrame. */
  push(chunk: Buffer): Received[] {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size < this.#wanted) return [];
    const { decode, bytesMin, bytesMax } = this.#framing;
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks, this.#size);
    const messages: Received[] = [];
    let at = 0;
    this.#wanted = lengthBytes;
    while (bytes.length - at >= lengthBytes) {
      const length = bytes.readUInt32LE(at);
      if (length > bytesMax || length < bytesMin) throw new BrokenFrame(`a frame of ${length} bytes`);
      const end = at + lengthBytes + length;
      if (end > bytes.length) {
        this.#wanted = lengthBytes + length;
        break;
      }
      messages.push(decode(bytes.subarray(at + lengthBytes, end)));
      at = end;
    }
    this.#chunks = at === bytes.length ? [] : [bytes.subarray(at)];
    this.#size = bytes.length - at;
    return messages;
  }
}

/** Throws for a message that cannot be cloned, such as one that holds a function. */
export const encodeFrame = (message: unknown): Buffer => {
  const serializer = new DefaultSerializer();
  serializer.writeRawBytes(Buffer.alloc(lengthBytes));
  serializer.writeHeader();
  serializer.writeValue(message);
  const frame = serializer.releaseBuffer();
  frame.writeUInt32LE(frame.length - lengthBytes);
  return frame;
};

const decodeClone = (bytes: Buffer): unknown => {
  try {
    return deserialize(bytes);
  } catch (cause) {
    throw new BrokenFrame('a frame that holds no message', { cause });
  }
};

/** Messages as V8's structured clones. */
export const clones: Framing<unknown, unknown> = {
  encode: encodeFrame,
  decode: decodeClone,
  bytesMin: 0,
  bytesMax: 1024 ** 3, // no message of svc is longer
};
