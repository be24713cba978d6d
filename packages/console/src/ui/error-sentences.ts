import { ApiError } from '@svc/sdk';

/** What the server reports about a request that has failed; the faults of a validation error are a sentence each. */
export const sentencesOf = (error: Error): string[] => {
  if (!(error instanceof ApiError)) return [error.message];
  const { detail } = error;
  if (typeof detail === 'string') return [detail === '' ? error.message : detail];
  return detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`);
};
