import { ApiError } from '@svc/sdk';

/** Browsers reject a request without a response with a TypeError: Chrome, Firefox and Safari in this order. */
const isUnreachable = (error: Error): boolean =>
  error instanceof TypeError && /^(Failed to fetch|NetworkError|Load failed)/.test(error.message);

/** What the server reports about a request that has failed; the faults of a validation error are a sentence each. */
export const sentencesOf = (error: Error): string[] => {
  if (isUnreachable(error))
    return ['No response: check that the server runs and that this machine reaches it.'];
  if (!(error instanceof ApiError)) return [error.message];
  const { detail } = error;
  if (typeof detail === 'string') return [detail === '' ? error.message : detail];
  return detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`);
};
