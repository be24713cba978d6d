import type { Caller, KeyGrant } from '../principal/caller.ts';

/** The permissions and workspaces of the caller's key. Platform routes are only called with a key. */
export const grantOf = ({ grant }: Caller): KeyGrant => {
  if (grant === undefined) throw new Error('A platform route was called without an API key');
  return grant;
};
