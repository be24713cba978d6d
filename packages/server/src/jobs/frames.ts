// Messages as bytes: the length of a message in four bytes, then the message as V8's structured clone.
import { DefaultSerializer, deserialize } from 'node:v8';

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
