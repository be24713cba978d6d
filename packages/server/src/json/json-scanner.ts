// Finds values in a JSON file that may be larger than a string or the memory. It checks the grammar of the whole file, but keeps only the
// places of the requested values. The text of deep values is checked when it is parsed.

export type Path = readonly (string | number)[];

export interface ScanOptions {
  /** Whether the value at this path is wanted. Called for values up to `depthMax` levels deep. */
  wants: (path: Path) => boolean;
  /** Called at the end of a wanted value. */
  onValue: (path: Path, start: number, end: number) => void;
  /** The path of the deepest wanted value has this many parts. */
  depthMax: number;
}

/** A fault of the text, at a byte. */
export class JsonFault extends Error {
  override readonly name = 'JsonFault';
  readonly at: number;

  constructor(at: number, reason: string) {
    super(reason);
    this.at = at;
  }
}

const nestingMax = 10_000;
const keyBytesMax = 65_536;

const code = (text: string): number => text.charCodeAt(0);
const [quote, backslash, comma, colon] = [code('"'), code('\\'), code(','), code(':')];
const [openList, closeList, openObject, closeObject] = [code('['), code(']'), code('{'), code('}')];

const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
/** Letters, digits and signs of numbers, true, false and null. */
const isLiteral = (byte: number): boolean =>
  (byte >= 0x30 && byte <= 0x39) ||
  (byte >= 0x61 && byte <= 0x7a) ||
  byte === 0x2b ||
  byte === 0x2d ||
  byte === 0x2e ||
  byte === 0x45;

type Expected = 'value' | 'value or ]' | 'key' | 'key or }' | 'colon' | 'comma or end' | 'end';

/** Takes a file chunk by chunk. */
export class JsonScanner {
  readonly #options: ScanOptions;
  /** True for an object, false for a list, from the outermost to the current container. */
  readonly #isObject: boolean[] = [];
  /** The path to the current value, up to `depthMax` parts. */
  readonly #path: (string | number)[] = [];
  /** Starts of the wanted values that contain the current place. */
  readonly #starts: (number | undefined)[] = [];
  #expected: Expected = 'value';
  #inside: 'string' | 'key' | 'literal' | undefined;
  #isEscaped = false;
  /** The bytes of a key so far. */
  #key: Buffer[] = [];
  #keyBytes = 0;
  #offset = 0;

  constructor(options: ScanOptions) {
    this.#options = options;
  }

  write(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;)
      at = this.#inside ? this.#continue(chunk, at) : this.#begin(chunk, at);
    this.#offset += chunk.length;
  }

  /** Throws when the text is not complete. */
  end(): void {
    if (this.#inside === 'literal') this.#endLiteral(0);
    if (this.#expected !== 'end') throw new JsonFault(this.#offset, 'the file ends in the middle');
  }

  #fault(at: number, reason: string): JsonFault {
    return new JsonFault(this.#offset + at, reason);
  }

  #begin(chunk: Buffer, at: number): number {
    const byte = chunk[at] ?? 0;
    if (isSpace(byte)) return at + 1;
    switch (this.#expected) {
      case 'comma or end':
        this.#afterValue(byte, at);
        return at + 1;
      case 'colon':
        if (byte !== colon) throw this.#fault(at, 'a colon is missing');
        this.#expected = 'value';
        return at + 1;
      case 'key or }':
        if (byte === closeObject) {
          this.#close(at);
          return at + 1;
        }
        return this.#beginKey(byte, at);
      case 'key':
        return this.#beginKey(byte, at);
      case 'value or ]':
        if (byte === closeList) {
          this.#close(at);
          return at + 1;
        }
        return this.#beginValue(byte, at);
      case 'value':
        return this.#beginValue(byte, at);
      case 'end':
        throw this.#fault(at, 'there is text after the end');
    }
  }

  #beginKey(byte: number, at: number): number {
    if (byte !== quote) throw this.#fault(at, 'a key is missing');
    this.#inside = 'key';
    this.#key = [];
    this.#keyBytes = 0;
    return at + 1;
  }

  #beginValue(byte: number, at: number): number {
    const depth = this.#isObject.length;
    const isObject = this.#isObject[depth - 1];
    if (isObject === false && depth <= this.#options.depthMax) {
      const last = this.#path[depth - 1];
      this.#path[depth - 1] = typeof last === 'number' ? last + 1 : 0;
    }
    const isWanted = depth <= this.#options.depthMax && this.#options.wants(this.#path.slice(0, depth));
    this.#starts[depth] = isWanted ? this.#offset + at : undefined;
    if (byte === openObject || byte === openList) {
      if (depth >= nestingMax) throw this.#fault(at, `values are nested more than ${nestingMax} levels deep`);
      this.#isObject.push(byte === openObject);
      if (depth < this.#options.depthMax) this.#path[depth] = '';
      this.#expected = byte === openObject ? 'key or }' : 'value or ]';
    } else if (byte === quote) this.#inside = 'string';
    else if (isLiteral(byte)) this.#inside = 'literal';
    else throw this.#fault(at, 'a value is missing');
    return at + 1;
  }

  #continue(chunk: Buffer, at: number): number {
    if (this.#inside === 'literal') {
      let end = at;
      while (end < chunk.length && isLiteral(chunk[end] ?? 0)) end += 1;
      if (end < chunk.length) this.#endLiteral(end);
      return end;
    }
    const end = this.#endOfString(chunk, at);
    if (this.#inside === 'key') this.#addToKey(chunk.subarray(at, end ?? chunk.length), at);
    if (end === undefined) return chunk.length;
    if (this.#inside === 'key') this.#endKey(end);
    else {
      this.#inside = undefined;
      this.#endValue(end + 1);
    }
    return end + 1;
  }

  /** The place of the closing quote; undefined when it is in a later chunk. */
  #endOfString(chunk: Buffer, from: number): number | undefined {
    let at = from;
    if (this.#isEscaped) {
      this.#isEscaped = false;
      at += 1;
    }
    let end = chunk.indexOf(quote, at);
    for (;;) {
      // Each search continues where the last one ended: a long text with many escapes is searched once.
      const escape = chunk.subarray(at, end === -1 ? chunk.length : end).indexOf(backslash);
      if (escape === -1) return end === -1 ? undefined : end;
      at += escape + 2;
      if (at > chunk.length) this.#isEscaped = true;
      if (at >= chunk.length) return undefined;
      if (end !== -1 && end < at) end = chunk.indexOf(quote, at);
    }
  }

  #addToKey(bytes: Buffer, at: number): void {
    this.#keyBytes += bytes.length;
    if (this.#keyBytes > keyBytesMax) throw this.#fault(at, `a key has more than ${keyBytesMax} bytes`);
    if (this.#isObject.length <= this.#options.depthMax) this.#key.push(Buffer.from(bytes));
  }

  #endKey(at: number): void {
    this.#inside = undefined;
    this.#expected = 'colon';
    const depth = this.#isObject.length;
    if (depth > this.#options.depthMax) return;
    try {
      this.#path[depth - 1] = JSON.parse(`"${Buffer.concat(this.#key).toString('utf8')}"`) as string;
    } catch {
      throw this.#fault(at, 'a key is not valid');
    }
  }

  #endLiteral(at: number): void {
    this.#inside = undefined;
    this.#endValue(at);
  }

  /** `end`: the byte after the value, in the chunk. */
  #endValue(end: number): void {
    const depth = this.#isObject.length;
    const start = this.#starts[depth];
    if (start !== undefined) this.#options.onValue(this.#path.slice(0, depth), start, this.#offset + end);
    this.#starts.length = depth;
    this.#expected = depth === 0 ? 'end' : 'comma or end';
  }

  #afterValue(byte: number, at: number): void {
    const isObject = this.#isObject.at(-1);
    if (byte === comma) this.#expected = isObject ? 'key' : 'value';
    else if (byte === (isObject ? closeObject : closeList)) this.#close(at);
    else throw this.#fault(at, `a comma or ${isObject ? '}' : ']'} is missing`);
  }

  #close(at: number): void {
    this.#isObject.pop();
    this.#path.length = Math.min(this.#path.length, this.#isObject.length);
    this.#endValue(at + 1);
  }
}
