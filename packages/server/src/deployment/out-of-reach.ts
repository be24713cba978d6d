import { Problem } from '@svc/contract/problem';

/** The error for a change after which the caller could no longer access the object. */
export const outOfReach = (noun: string): Problem =>
  new Problem(
    'forbidden',
    `With its new metadata the ${noun} would not pass the filter of its auth handler.`,
  );
