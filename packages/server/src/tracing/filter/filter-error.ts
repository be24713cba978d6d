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
