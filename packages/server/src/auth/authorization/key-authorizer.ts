// Authorizes routes of the platform API by the permissions of the caller's key.
import { Problem } from '@svc/contract/problem';
import type { KeyGrant } from '../principal/caller.ts';
import type { Authorizer } from './authorizer.ts';

const otherApi = (): Error =>
  new Error('A key of the platform API cannot authorize events of the deployment API');

export const keyAuthorizer = ({ role, permissions }: KeyGrant): Authorizer => ({
  user: undefined,
  authorize() {
    throw otherApi();
  },
  authorizeAssistant() {
    throw otherApi();
  },
  authorizeRoute(access) {
    if (!('permission' in access)) throw otherApi();
    if (permissions.includes(access.permission)) return;
    throw new Problem(
      'forbidden',
      `A key with the role ${role} does not have the permission ${access.permission}.`,
    );
  },
  hasAuthorized: (access) => 'permission' in access,
});
