// A slow and exact JSON reader that finds the first fault and its position. It reads only suspicious bodies, and recurses no deeper
// than the limit that it enforces.
import { Problem } from '@svc/contract/problem';
import { JsonBudget, type JsonLimits, tooDeep } from './json-limits.ts';

/** Longer numbers are rejected: their conversion takes quadratic time. */
const numberCharsMax = 400;

/** True when a JSON number keeps its value as a double: it is finite, not rounded to zero, and an integer stays the same. */
export const isFaithful = (text: string, from: number, to: number): boolean => {
  if (to - from > numberCharsMax) return false;
  const literal = text.slice(from, to);
  const value = Number(literal);
  if (!Number.isFinite(value)) return false;
  if (value === 0) return !/^[^eE]*[1-9]/.test(literal);
  if (Number.isSafeInteger(value) || !/^-?\d+$/.test(literal)) return true;
  // JavaScript prints large integers with zeros where a double has no digits. Such a literal is kept as it was sent.
  if (String(value) === literal) return true;
  return BigInt(literal) === BigInt(value);
};

/** Throws a Problem for the first part of the text that is not JSON (400), or that is not allowed (422, 413). */
export const assertJson = (text: string, limits: JsonLimits, anyText: readonly string[] = []): void => {
  new Reader(text, limits, anyText).document();
};

const keyCharsMax = 100;

/** Cuts a long key: clients choose the keys, and the error response contains them. */
export const shortKey = (key: string): string =>
  key.length > keyCharsMax ? `${key.slice(0, keyCharsMax)}…` : key;

const invalidString = (value: string): string | undefined => {
  if (value.includes('\0')) return 'contains the character U+0000, which cannot be stored';
  if (/\p{Surrogate}/u.test(value)) return 'contains half of a surrogate pair, which cannot be stored';
  return undefined;
};

// oxlint-disable-next-line no-control-regex -- JSON forbids exactly these unescaped
const plain = /[^"\\\u0000-\u001f]*/y;
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const literal = /true|false|null/y;
const isBlank = (code: number): boolean => code === 32 || code === 10 || code === 13 || code === 9;

class Reader {
  readonly #text: string;
  readonly #limits: JsonLimits;
  readonly #budget: JsonBudget;
  readonly #path: (string | number)[] = [];
  readonly #anyText: readonly string[][];
  #at = 0;

  constructor(text: string, limits: JsonLimits, anyText: readonly string[]) {
    this.#text = text;
    this.#limits = limits;
    this.#anyText = anyText.map((path) => path.split('.'));
    this.#budget = new JsonBudget(limits);
  }

  document(): void {
    if (this.#text.startsWith('\uFEFF')) {
      throw new Problem('bad_request', 'The body is not valid JSON: it starts with a byte order mark.');
    }
    this.#value();
    this.#blank();
    if (this.#at < this.#text.length) this.#unexpected();
  }

  #value(): void {
    this.#budget.spend(1);
    this.#blank();
    switch (this.#text.charAt(this.#at)) {
      case '{':
        return this.#object();
      case '[':
        return this.#array();
      case '"': {
        const fault = this.#faultOf(this.#string());
        if (fault !== undefined) this.#refuse(fault, 'string_invalid');
        return;
      }
      default:
        if (!this.#skip(literal)) this.#number();
    }
  }

  #object(): void {
    this.#enter();
    const keys = new Set<string>();
    if (!this.#closes('}')) {
      do {
        this.#blank();
        if (this.#text[this.#at] !== '"') this.#unexpected();
        const key = this.#string();
        this.#budget.spend(0, 1);
        this.#key(key, keys);
        this.#expect(':');
        this.#path.push(key);
        this.#value();
        this.#path.pop();
      } while (!this.#endsWith('}'));
    }
  }

  #array(): void {
    this.#enter();
    if (!this.#closes(']')) {
      let index = 0;
      do {
        this.#path.push(index++);
        this.#value();
        this.#path.pop();
      } while (!this.#endsWith(']'));
    }
  }

  #key(key: string, seen: Set<string>): void {
    const quoted = JSON.stringify(shortKey(key));
    if (seen.has(key)) this.#refuse(`has the key ${quoted} twice`, 'duplicate_key');
    if (key === '__proto__') this.#refuse(`has the key ${quoted}, which is not allowed`, 'key_forbidden');
    const fault = this.#faultOf(key);
    if (fault !== undefined) this.#refuse(`has a key, ${quoted}, that ${fault}`, 'key_invalid');
    seen.add(key);
  }

  #faultOf(string: string): string | undefined {
    const fault = invalidString(string);
    const isAllowed = (path: string[]): boolean =>
      path.every((name, at) => (name === '*' ? at in this.#path : this.#path[at] === name));
    return fault !== undefined && this.#anyText.some(isAllowed) ? undefined : fault;
  }

  #string(): string {
    const start = this.#at++;
    for (;;) {
      this.#skip(plain);
      if (this.#text[this.#at] === '"') break;
      if (!this.#skip(escape)) this.#unexpected();
    }
    this.#at++;
    return JSON.parse(this.#text.slice(start, this.#at)) as string;
  }

  #number(): void {
    const start = this.#at;
    if (!this.#skip(number)) this.#unexpected();
    if (isFaithful(this.#text, start, this.#at)) return;
    const written = this.#text.slice(start, Math.min(this.#at, start + 40));
    this.#refuse(
      `is the number ${written}${this.#at - start > 40 ? '…' : ''}, which cannot be stored exactly; send it as a string`,
      'number_inexact',
    );
  }

  /** Moves past an opening bracket. The depth is the number of open brackets. */
  #enter(): void {
    if (this.#path.length >= this.#limits.depthMax) {
      const msg = tooDeep(this.#limits);
      throw new Problem('invalid', `The body ${msg}.`, {
        faults: [{ loc: ['body'], msg, type: 'too_deep' }],
      });
    }
    this.#at++;
  }

  #closes(bracket: string): boolean {
    this.#blank();
    if (this.#text[this.#at] !== bracket) return false;
    this.#at++;
    return true;
  }

  /** Moves past the closing bracket and returns true, or past a comma and returns false. */
  #endsWith(bracket: string): boolean {
    if (this.#closes(bracket)) return true;
    this.#expect(',');
    return false;
  }

  #expect(token: string): void {
    this.#blank();
    if (this.#text[this.#at] !== token) this.#unexpected();
    this.#at++;
  }

  #blank(): void {
    for (let code = this.#text.charCodeAt(this.#at); isBlank(code); code = this.#text.charCodeAt(++this.#at));
  }

  /** Moves past the match of the sticky pattern; false when it matches nothing. */
  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text) || pattern.lastIndex === this.#at) return false;
    this.#at = pattern.lastIndex;
    return true;
  }

  #unexpected(): never {
    const found = this.#text.codePointAt(this.#at);
    const what =
      found === undefined ? 'it ends' : `unexpected ${JSON.stringify(String.fromCodePoint(found))}`;
    let line = 1;
    let start = 0;
    // The text is not split: a body of line ends would become millions of texts.
    for (
      let end = this.#text.indexOf('\n');
      end !== -1 && end < this.#at;
      end = this.#text.indexOf('\n', start)
    ) {
      line++;
      start = end + 1;
    }
    const place = `position ${this.#at} (line ${line}, column ${this.#at - start + 1})`;
    throw new Problem('bad_request', `The body is not valid JSON: ${what} at ${place}.`);
  }

  #refuse(msg: string, type: string): never {
    const loc = ['body', ...this.#path.map((key) => (typeof key === 'string' ? shortKey(key) : key))];
    throw new Problem('invalid', `${loc.join('.')} ${msg}`, { faults: [{ loc, msg, type }] });
  }
}
