// The texts of a store item that are embedded.
import { invalid, Problem } from '@svc/contract/problem';
import {
  type ItemPath,
  ItemPathError,
  type ItemPathStep,
  parseItemPath,
} from '../../../config/project/item-path.ts';

/** Limits of one item. */
export const textLimits = { texts: 100, charsOfText: 100_000, chars: 1_000_000 };

/** The parsed paths. Throws `invalid` when one is not a path. */
export const parseItemPaths = (paths: readonly string[]): ItemPath[] =>
  paths.map((path, at) => {
    try {
      return parseItemPath(path);
    } catch (error) {
      if (!(error instanceof ItemPathError)) throw error;
      throw invalid(['index', at], `index: ${error.message}`);
    }
  });

/** The texts at the paths, in their order. Throws `too_large` beyond the limits. */
export const itemTexts = (value: unknown, paths: readonly ItemPath[]): string[] => {
  const texts: string[] = [];
  let chars = 0;
  const add = (text: string): void => {
    assertLength(text.length);
    chars += text.length;
    if (chars > textLimits.chars) throw tooLarge(`more than ${textLimits.chars} characters of text`);
    if (texts.push(text) > textLimits.texts) throw tooLarge(`more than ${textLimits.texts} texts`);
  };
  for (const path of paths) collect(value, path, add);
  return texts;
};

const collect = (value: unknown, path: ItemPath, add: (text: string) => void): void => {
  const [step, ...rest] = path;
  if (step) for (const child of childrenOf(value, step)) collect(child, rest, add);
  else if (value !== null && value !== undefined) add(textOf(value));
};

const childrenOf = (value: unknown, step: ItemPathStep): unknown[] => {
  if (typeof value !== 'object' || value === null) return [];
  const list = Array.isArray(value) ? (value as unknown[]) : undefined;
  switch (step.kind) {
    case 'member':
      return Object.hasOwn(value, step.name) ? [(value as Record<string, unknown>)[step.name]] : [];
    case 'element':
      return list ? [list.at(step.index)] : [];
    case 'elements':
      return list ?? [];
    case 'all':
      return Object.values(value);
    case 'members':
      return step.paths.flatMap((path) => valuesAt(value, path));
  }
};

const valuesAt = (value: unknown, [step, ...rest]: ItemPath): unknown[] =>
  step ? childrenOf(value, step).flatMap((child) => valuesAt(child, rest)) : [value];

/** As in the stock stores. The indentation of deeply nested JSON may be much longer than the JSON. */
const textOf = (value: unknown): string => {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object') return JSON.stringify(value);
  assertLength(JSON.stringify(value).length);
  return JSON.stringify(value, null, 2);
};

const assertLength = (length: number): void => {
  if (length > textLimits.charsOfText)
    throw tooLarge(`a text of more than ${textLimits.charsOfText} characters`);
};

const tooLarge = (what: string) =>
  new Problem(
    'too_large',
    `The index of the store would embed ${what} of one item. Name shorter fields in "index", or store the item with "index": false`,
  );
