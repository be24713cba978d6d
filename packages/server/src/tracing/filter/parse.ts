// Parses the text of a filter to a tree of calls, names and values. Knows the grammar only; parse-filter.ts knows the operators.
import { FilterError } from './filter-error.ts';
import { type Token, Tokens } from './tokens.ts';

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
