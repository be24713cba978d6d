import type { Grant } from '../principal/caller.ts';
import type { Call } from '../../api/handlers.ts';

/** What the caller may do, and where. Routes of the platform are reached with a grant only. */
export const grantOf = ({ caller }: Call): Grant => {
  if (caller.grant === undefined) throw new Error('A route of the platform was reached without a key');
  return caller.grant;
};
