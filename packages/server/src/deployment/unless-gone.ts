import { Problem } from '@svc/contract/problem';

/** A rejection handler: undefined for `not_found`, when the object was deleted meanwhile. */
export const unlessGone = (error: unknown): undefined => {
  if (!(error instanceof Problem) || error.code !== 'not_found') throw error;
  return undefined;
};
