// Reads JSON written by hand: JSON.parse gives the value, the scanner here says where things are and, when it is not
// JSON, where it stops being so and which habit of JavaScript was the reason.

export interface JsonText {
  value: unknown;
  /** `line:column` of a key or element, by its path: `['graphs', 'agent']`. */
  position(path: readonly (string | number)[]): string;
}

export class JsonTextError extends Error {
  /** `line:column` */
  readonly position: string;
  readonly remedy: string;

  constructor(position: string, problem: string, remedy: string) {
    super(problem);
    this.name = 'JsonTextError';
    this.position = position;
    this.remedy = remedy;
  }
}

const depthMax = 200;

export function parseJsonText(source: string): JsonText {
  const text = source.startsWith('\uFEFF') ? source.slice(1) : source;
  const offsets = new Scanner(text).scan();
  return {
    value: JSON.parse(text) as unknown,
    position: (path) => {
      // What is missing is reported at the nearest thing that is there.
      for (let length = path.length; length > 0; length--) {
        const offset = offsets.get(JSON.stringify(path.slice(0, length)));
        if (offset !== undefined) return lineAndColumn(text, offset);
      }
      return '1:1';
    },
  };
}

function lineAndColumn(text: string, offset: number): string {
  const before = text.slice(0, offset);
  return `${before.split('\n').length}:${offset - before.lastIndexOf('\n')}`;
}

const patterns = {
  space: /[ \t\r\n]*/y,
  // oxlint-disable-next-line no-control-regex -- JSON forbids exactly these in a string
  string: /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y,
  scalar: /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.])/y,
};

class Scanner {
  readonly #text: string;
  readonly #offsets = new Map<string, number>();
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  scan(): Map<string, number> {
    this.#value([]);
    this.#space();
    if (this.#at < this.#text.length) this.#fail('there is text after the end of the JSON value');
    return this.#offsets;
  }

  #value(path: (string | number)[]): void {
    this.#space();
    if (path.length > depthMax) this.#fail(`is nested deeper than ${depthMax} levels`);
    const character = this.#text[this.#at];
    if (character === '{') this.#object(path);
    else if (character === '[') this.#array(path);
    else if (this.#take(patterns.string) === undefined && this.#take(patterns.scalar) === undefined) {
      this.#fail('a value is expected here');
    }
  }

  #object(path: (string | number)[]): void {
    const seen = new Set<string>();
    this.#members('}', () => {
      const start = this.#at;
      const literal = this.#take(patterns.string);
      if (literal === undefined) this.#fail('a key in double quotes is expected here');
      const key = JSON.parse(literal) as string;
      if (seen.has(key)) {
        this.#at = start;
        this.#fail(`the key ${literal} is there twice`, 'Keep one of the two.');
      }
      seen.add(key);
      this.#offsets.set(JSON.stringify([...path, key]), start);
      this.#space();
      if (this.#text[this.#at] !== ':') this.#fail(`a colon is expected after ${literal}`);
      this.#at++;
      this.#value([...path, key]);
    });
  }

  #array(path: (string | number)[]): void {
    let index = 0;
    this.#members(']', () => {
      this.#offsets.set(JSON.stringify([...path, index]), this.#at);
      this.#value([...path, index++]);
    });
  }

  #members(end: '}' | ']', member: () => void): void {
    this.#at++;
    this.#space();
    if (this.#text[this.#at] === end) {
      this.#at++;
      return;
    }
    for (;;) {
      member();
      this.#space();
      const character = this.#text[this.#at];
      if (character === end) break;
      if (character !== ',') this.#fail(`a comma or ${end} is expected here`);
      const comma = this.#at++;
      this.#space();
      if (this.#text[this.#at] === end) {
        this.#at = comma;
        this.#fail(`there is a comma before the closing ${end}`, 'Remove it: JSON has no trailing commas.');
      }
    }
    this.#at++;
  }

  #space(): void {
    this.#take(patterns.space);
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text)?.[0];
    if (match !== undefined) this.#at += match.length;
    return match;
  }

  #fail(problem: string, remedy?: string): never {
    const rest = this.#text.slice(this.#at);
    const position = lineAndColumn(this.#text, this.#at);
    if (remedy !== undefined) throw new JsonTextError(position, problem, remedy);
    if (rest === '') throw new JsonTextError(position, 'the file ends too early', `Complete it: ${problem}.`);
    if (/^(\/\/|\/\*|#)/.test(rest))
      throw new JsonTextError(position, 'there is a comment', 'Remove it: JSON has no comments.');
    if (rest.startsWith("'")) throw new JsonTextError(position, problem, 'Use double quotes.');
    throw new JsonTextError(position, problem, `Mend it near ${JSON.stringify(rest.slice(0, 20))}.`);
  }
}
