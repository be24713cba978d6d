import type { Grant } from '../principal/caller.ts';
import type { Call } from '../../api/handlers.ts';

/** The permissions and workspaces of the caller's key. Platform routes are only called with a key. */
export const grantOf = ({ caller }: Call): Grant => {
  if (caller.grant === undefined) throw new Error('A platform route was called without an API key');
  return caller.grant;
};
