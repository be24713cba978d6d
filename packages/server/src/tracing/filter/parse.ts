// Parses the text of a filter to a tree of calls, names and values. Knows the grammar only; parse-filter.ts knows the operators.
import { Problem } from '@svc/contract/problem';

/** An invalid filter, with the position of the error in its text. */
export class FilterError extends Error {
  /** Index in the text, in UTF-16 code units. */
  readonly at: number;

  constructor(message: string, at: number) {
    super(`${message}, at character ${at + 1}`);
    this.name = 'FilterError';
    this.at = at;
  }
}

export const filterProblem = (error: FilterError, name: string): Problem =>
  new Problem('invalid', `${name}: ${error.message}`, {
    faults: [{ loc: ['body', name], msg: error.message, type: 'filter_error' }],
  });

// The tokenizer of filters.

type Token =
  | { kind: '(' | ')' | '[' | ']' | ',' | 'end'; at: number }
  | { kind: 'name' | 'string' | 'number' | 'time'; text: string; at: number };

const space = /\s*/y;
const time = /\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?/y;
const number = /-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y;
const name = /[A-Za-z_][A-Za-z0-9_.]*/y;
const digitsMax = 60;

/** Reads one token at a time, so that an early error costs little. */
class Tokens {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  next(): Token {
    this.#take(space);
    const at = this.#at;
    const first = this.#text[at];
    if (first === undefined) return { kind: 'end', at };
    if (first === '(' || first === ')' || first === '[' || first === ']' || first === ',') {
      this.#at++;
      return { kind: first, at };
    }
    if (first === '"' || first === "'") return { kind: 'string', text: this.#string(first), at };
    const when = this.#take(time);
    if (when !== undefined) return { kind: 'time', text: when, at };
    const digits = this.#take(number);
    if (digits !== undefined) return { kind: 'number', text: plain(digits, at), at };
    const word = this.#take(name);
    if (word !== undefined) return { kind: 'name', text: word, at };
    throw new FilterError(`Unexpected character ${JSON.stringify(first)}`, at);
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #string(quote: string): string {
    const start = this.#at++;
    let value = '';
    for (;;) {
      const unit = this.#text[this.#at++];
      if (unit === undefined) throw new FilterError('Unterminated string', start);
      if (unit === quote) return value;
      value += unit === '\\' ? this.#escaped(start) : unit;
    }
  }

  #escaped(start: number): string {
    const letter = this.#text[this.#at++];
    if (letter === undefined) throw new FilterError('Unterminated string', start);
    if (letter !== 'u') return escapes[letter] ?? letter;
    const code = /[0-9a-fA-F]{4}/y;
    const hex = this.#take(code);
    if (hex === undefined)
      throw new FilterError('\\u must be followed by four hexadecimal digits', this.#at - 2);
    return String.fromCharCode(Number.parseInt(hex, 16));
  }
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/** Normalizes a number to digits on both sides of its decimal point. */
const plain = (digits: string, at: number): string => {
  const exponent = /[eE]([+-]?\d+)$/.exec(digits)?.[1] ?? '0';
  if (digits.length > digitsMax || Math.abs(Number(exponent)) > 300)
    throw new FilterError('The number is too long', at);
  return digits.replace(/^(-?)\./, '$10.').replace(/\.(?=[eE]|$)/, '');
};

export type Node =
  | { kind: 'call'; name: string; of: Node[]; at: number }
  | { kind: 'list'; of: Node[]; at: number }
  | { kind: 'name' | 'string' | 'number' | 'time'; text: string; at: number };

const charsMax = 16_384;
const depthMax = 64;

/** Throws FilterError. */
export const parse = (text: string): Node => {
  if (text.length > charsMax)
    throw new FilterError(`The filter is longer than ${charsMax} characters`, charsMax);
  return new Parser(text).whole();
};

class Parser {
  readonly #tokens: Tokens;
  #token: Token;

  constructor(text: string) {
    this.#tokens = new Tokens(text);
    this.#token = this.#tokens.next();
  }

  whole(): Node {
    const node = this.#node(1);
    if (this.#token.kind !== 'end')
      throw new FilterError('Unexpected text after the end of the filter', this.#token.at);
    return node;
  }

  #advance(): Token {
    const token = this.#token;
    this.#token = this.#tokens.next();
    return token;
  }

  #node(depth: number): Node {
    if (depth > depthMax)
      throw new FilterError(`The filter is nested deeper than ${depthMax} levels`, this.#token.at);
    const token = this.#advance();
    switch (token.kind) {
      case 'name':
        if (this.#token.kind !== '(') return token;
        this.#advance();
        return { kind: 'call', name: token.text, of: this.#until(')', depth), at: token.at };
      case 'string':
      case 'number':
      case 'time':
        return token;
      case '[':
        return { kind: 'list', of: this.#until(']', depth), at: token.at };
      case 'end':
        throw new FilterError('Unexpected end of the filter', token.at);
      case '(':
      case ')':
      case ']':
      case ',':
        throw new FilterError(`Expected a value instead of "${token.kind}"`, token.at);
    }
  }

  #until(end: ')' | ']', depth: number): Node[] {
    const nodes: Node[] = [];
    while (this.#token.kind !== end) {
      nodes.push(this.#node(depth + 1));
      if (this.#token.kind === ',') this.#advance();
      else if (this.#token.kind !== end) throw new FilterError(`Expected "," or "${end}"`, this.#token.at);
    }
    this.#advance();
    return nodes;
  }
}
