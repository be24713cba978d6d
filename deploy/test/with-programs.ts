import { it, type TestFunction } from 'vitest';
import { type programs, whyNoPrograms } from './programs.ts';

/** A test that needs a program. */
export const itWithPrograms = (
  names: readonly (typeof programs)[number][],
  title: string,
  test: TestFunction,
): void => it.skipIf(whyNoPrograms(names) !== undefined)(title, test);
