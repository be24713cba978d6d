import { Problem } from '@svc/contract/problem';

/** For the rejection of a reading: undefined when what was to be read has gone. */
export const unlessGone = (error: unknown): undefined => {
  if (!(error instanceof Problem) || error.code !== 'not_found') throw error;
  return undefined;
};
