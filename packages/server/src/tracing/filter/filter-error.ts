import { invalid, type Problem } from '@svc/contract/problem';

/** What is wrong with a filter, and where in its text. */
export class FilterError extends Error {
  /** Counted from 0, in UTF-16 units. */
  readonly at: number;

  constructor(message: string, at: number) {
    super(`${message}, at character ${at + 1}`);
    this.name = 'FilterError';
    this.at = at;
  }
}

export const filterProblem = (error: FilterError, name: string): Problem =>
  invalid(['body', name], `${name}: ${error.message}`, 'filter_error');
