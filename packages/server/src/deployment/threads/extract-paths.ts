// Paths that a search of threads extracts: `values.messages[-1].content`. A path begins with one of four fields; [-1] is the last element.
import { invalid } from '@svc/contract/problem';

const roots = ['values', 'metadata', 'config', 'interrupts'] as const;
type Root = (typeof roots)[number];

export interface ExtractPath {
  alias: string;
  root: Root;
  /** Names of members and numbers of elements. */
  steps: readonly (string | number)[];
}

const grammar = new RegExp(`^(${roots.join('|')})((?:\\.[^.[\\]]+|\\[-?\\d{1,9}\\])*)$`);
const step = /\.([^.[\]]+)|\[(-?\d+)\]/g;

/** Throws `invalid` with the place of the first text that is not a path. */
export const parseExtracts = (extract: Record<string, string>): ExtractPath[] =>
  Object.entries(extract).map(([alias, path]) => {
    const [, root, rest = ''] = grammar.exec(path) ?? [];
    if (root === undefined)
      throw invalid(
        ['body', 'extract', alias],
        `${JSON.stringify(path)} is not a path: begin with ${roots.join(', ')}, and go on with .name or [0]; [-1] is the last element`,
      );
    const steps = [...rest.matchAll(step)].map(([, name, index]) => name ?? Number(index));
    return { alias, root: root as Root, steps };
  });

/** The part of a value at the path; null when there is none. */
export const partAt = (value: unknown, steps: ExtractPath['steps']): unknown => {
  let part = value;
  for (const one of steps) {
    if (typeof part !== 'object' || part === null) return null;
    if (Array.isArray(part)) part = typeof one === 'number' ? (part as unknown[]).at(one) : undefined;
    else
      part =
        typeof one === 'string' && Object.hasOwn(part, one)
          ? (part as Record<string, unknown>)[one]
          : undefined;
  }
  return part ?? null;
};
