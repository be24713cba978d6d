// A streaming parser for multipart/form-data (RFC 2046, section 5.1). Parts may be binary. Each part is passed on as a whole, because it
// is stored as a whole.
//
//   preamble ──delimiter──▶ after ──CRLF──▶ head ──blank line──▶ body ──delimiter──▶ after ──`--`──▶ end
import { Problem } from '@svc/contract/problem';

export interface Part {
  name: string;
  /** In lower case, without parameters; empty when there is none. */
  content_type: string;
  /** The value of Content-Length, if the part has that header. */
  announced: number | undefined;
  /** A header contains NUL or another control character, which no field of a stored item may have. */
  hasControls: boolean;
  content: Buffer;
}

const headBytesMax = 8_192;
const partsMax = 20_000;
const crlf = Buffer.from('\r\n');
const headEnd = Buffer.from('\r\n\r\n');
const dash = 45;

type State = 'preamble' | 'after' | 'head' | 'body' | 'end';

export class MultipartReader {
  readonly #onPart: (part: Part) => void;
  readonly #delimiter: Buffer;
  /** Received bytes that are not parsed yet. Begins with a line break, because the first delimiter may lack the one before it. */
  #pending: Buffer = crlf;
  #state: State = 'preamble';
  #head: Omit<Part, 'content'> = { name: '', content_type: '', announced: undefined, hasControls: false };
  #body: Buffer[] = [];
  #parts = 0;

  constructor(boundary: string, onPart: (part: Part) => void) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
    this.#onPart = onPart;
  }

  push(chunk: Uint8Array): void {
    this.#pending = this.#pending.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#pending, chunk]);
    while (this.#step());
  }

  /**
   * Called after the last chunk. Undefined when the body is complete. Otherwise the name of the part in which it ends; empty when the part
   * has no name yet.
   */
  end(): string | undefined {
    if (this.#state === 'end') return undefined;
    return this.#state === 'body' ? this.#head.name : '';
  }

  /** Parses one element. False when it needs more bytes. */
  #step(): boolean {
    switch (this.#state) {
      case 'preamble':
      case 'body':
        return this.#untilDelimiter();
      case 'after':
        return this.#afterDelimiter();
      case 'head':
        return this.#readHead();
      case 'end':
        this.#pending = Buffer.alloc(0);
        return false;
    }
  }

  #untilDelimiter(): boolean {
    const at = this.#pending.indexOf(this.#delimiter);
    // The last bytes may be the beginning of a delimiter; they are kept.
    const used = at === -1 ? Math.max(0, this.#pending.length - this.#delimiter.length + 1) : at;
    if (this.#state === 'body' && used > 0) this.#body.push(this.#pending.subarray(0, used));
    this.#pending = this.#pending.subarray(at === -1 ? used : at + this.#delimiter.length);
    if (at === -1) return false;
    if (this.#state === 'body') {
      const [only] = this.#body;
      const content = this.#body.length === 1 && only ? only : Buffer.concat(this.#body);
      this.#body = [];
      this.#onPart({ ...this.#head, content });
    }
    this.#state = 'after';
    return true;
  }

  #afterDelimiter(): boolean {
    if (this.#pending.length < 2) return false;
    if (this.#pending[0] === dash && this.#pending[1] === dash) {
      this.#state = 'end';
      return true;
    }
    const lineEnd = this.#pending.indexOf(crlf);
    if (lineEnd === -1 && this.#pending.length < headBytesMax) return false;
    if (lineEnd === -1 || this.#pending.subarray(0, lineEnd).toString('latin1').trim() !== '') {
      throw new Problem(
        'bad_request',
        'The multipart body has a boundary that is not followed by a line break.',
      );
    }
    // The line break is kept, because a head without headers ends with this line break and the next.
    this.#pending = this.#pending.subarray(lineEnd);
    this.#state = 'head';
    return true;
  }

  #readHead(): boolean {
    const end = this.#pending.indexOf(headEnd);
    if (end > headBytesMax || (end === -1 && this.#pending.length > headBytesMax))
      throw new Problem(
        'bad_request',
        `The multipart body has a part with more than ${headBytesMax} bytes of headers.`,
      );
    if (end === -1) return false;
    if (++this.#parts > partsMax)
      throw new Problem('too_large', `The multipart body has more than ${partsMax} parts.`);
    this.#head = parseHead(this.#pending.subarray(0, end).toString('utf8'));
    this.#pending = this.#pending.subarray(end + headEnd.length);
    this.#body = [];
    this.#state = 'body';
    return true;
  }
}

// eslint-disable-next-line no-control-regex
const controls = /[\0-\x08\x0a-\x1f\x7f]/;

const parseHead = (text: string): Omit<Part, 'content'> => {
  let name: string | undefined;
  let content_type = '';
  let announced: number | undefined;
  for (const line of text.split('\r\n')) {
    const colon = line.indexOf(':');
    const header = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (header === 'content-disposition') name = /(?:^|[;\s])name="([^"]*)"/i.exec(value)?.[1];
    // Some tracers send a length in Content-Type, which counts characters. Only Content-Length counts bytes.
    if (header === 'content-length') announced = Number(value);
    if (header === 'content-type') content_type = (value.split(';', 1)[0] ?? '').trim().toLowerCase();
  }
  if (name === undefined) throw new Problem('bad_request', 'The multipart body has a part without a name.');
  return { name, content_type, announced, hasControls: controls.test(text.replaceAll('\r\n', '')) };
};

/** Returns the boundary of a content type. Throws a Problem when it has none. */
export const boundaryOf = (contentType: string | undefined): string => {
  const match = /;\s*boundary=(?:"([^"\r\n]{1,200})"|([^\s;"]{1,200}))/i.exec(contentType ?? '');
  const boundary = match?.[1] ?? match?.[2];
  if (boundary === undefined)
    throw new Problem('bad_request', 'The content type multipart/form-data must have a boundary.');
  return boundary;
};
