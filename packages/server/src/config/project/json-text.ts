// Reads JSON that people write. jsonc-parser finds all of its syntax errors, and knows where each key is.
import { findNodeAtLocation, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import type { Mistake } from './mistake.ts';

export interface JsonText {
  value: unknown;
  /** `line:column` of the key or element with this path, or of the nearest one above it that exists. */
  position(path: readonly (string | number)[]): string;
}

/** A mistake in the syntax. `where` is `line:column`. */
export type SyntaxMistake = Omit<Mistake, 'value'>;

export function parseJsonText(source: string): JsonText | { mistakes: SyntaxMistake[] } {
  const text = source.startsWith('\uFEFF') ? source.slice(1) : source;
  const errors: ParseError[] = [];
  let root: Node | undefined;
  try {
    root = parseTree(text, errors, { disallowComments: true });
  } catch (error) {
    // The parser calls itself for each level.
    if (!(error instanceof RangeError)) throw error;
    return { mistakes: [{ where: '1:1', problem: 'is nested too deeply', remedy: 'Use fewer levels.' }] };
  }
  const mistakes = [...firstOfEachLine(text, errors), ...duplicates(text, root)];
  if (mistakes.length > 0 || root === undefined) return { mistakes };
  return { value: JSON.parse(text) as unknown, position: (path) => positionOf(text, root, path) };
}

/** One error often causes more on the same line. */
function firstOfEachLine(text: string, errors: readonly ParseError[]): SyntaxMistake[] {
  const lines = new Map<string | undefined, SyntaxMistake>();
  for (const error of errors) {
    const where = lineAndColumn(text, error.offset);
    const [line] = where.split(':');
    if (!lines.has(line)) lines.set(line, { where, ...explain(text, error) });
  }
  return [...lines.values()];
}

const problems: Readonly<Record<string, string>> = {
  InvalidSymbol: 'this is not JSON',
  InvalidNumberFormat: 'this is not a number',
  PropertyNameExpected: 'a key in double quotes is expected here',
  ValueExpected: 'a value is expected here',
  ColonExpected: 'a colon is expected here',
  CommaExpected: 'a comma is expected here',
  CloseBraceExpected: 'a closing } is expected here',
  CloseBracketExpected: 'a closing ] is expected here',
  EndOfFileExpected: 'there is text after the end of the JSON value',
  InvalidCommentToken: 'there is a comment, and JSON has none',
  UnexpectedEndOfComment: 'the comment does not end',
  UnexpectedEndOfString: 'the text has no closing double quote',
  UnexpectedEndOfNumber: 'the number is not complete',
  InvalidUnicode: 'the \\u sequence in this text is not valid',
  InvalidEscapeCharacter: 'the backslash sequence in this text is not valid',
  InvalidCharacter: 'this text contains a control character',
};

function explain(text: string, { error, offset }: ParseError): Omit<SyntaxMistake, 'where'> {
  const problem = problems[printParseErrorCode(error)] ?? 'this is not JSON';
  const rest = text.slice(offset);
  if (rest.trim() === '') return { problem, remedy: 'The file ends too early: complete it.' };
  if (/^(\/\/|\/\*|#)/.test(rest)) return { problem, remedy: 'Remove the comment.' };
  if (rest.startsWith("'")) return { problem, remedy: 'Use double quotes.' };
  if (/^[}\]]/.test(rest) && text.slice(0, offset).trimEnd().endsWith(','))
    return { problem, remedy: 'Remove the comma before it: JSON has no trailing commas.' };
  return { problem, remedy: `Correct it near ${JSON.stringify(rest.slice(0, 20))}.` };
}

/** JSON.parse would use the last of two equal keys. */
function duplicates(text: string, node: Node | undefined): SyntaxMistake[] {
  const keys = new Set<unknown>();
  return (node?.children ?? []).flatMap((child) => {
    const key: unknown = node?.type === 'object' ? child.children?.[0]?.value : undefined;
    const isDuplicate = key !== undefined && keys.has(key);
    keys.add(key);
    const where = lineAndColumn(text, child.offset);
    const problem = `the key ${JSON.stringify(key)} occurs twice`;
    return [
      ...(isDuplicate ? [{ where, problem, remedy: 'Keep one of the two.' }] : []),
      ...duplicates(text, child),
    ];
  });
}

function positionOf(text: string, root: Node, path: readonly (string | number)[]): string {
  for (let length = path.length; length > 0; length--) {
    const node = findNodeAtLocation(root, path.slice(0, length));
    if (node === undefined) continue;
    const { parent } = node;
    return lineAndColumn(text, parent?.type === 'property' ? parent.offset : node.offset);
  }
  return '1:1';
}

function lineAndColumn(text: string, offset: number): string {
  const before = text.slice(0, offset);
  return `${before.split('\n').length}:${offset - before.lastIndexOf('\n')}`;
}
