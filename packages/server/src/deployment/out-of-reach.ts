import { Problem } from '@svc/contract/problem';

/** What would be written would not be the caller's any more. */
export const outOfReach = (noun: string): Problem =>
  new Problem(
    'forbidden',
    `The ${noun} would no longer pass the filter of its auth handler, by its new metadata.`,
  );
