import type { Permission } from '@svc/contract';
import type { KeyRole } from '../../storage/auth/api-keys.ts';

/** The permissions of each role. */
export const permissionsOf: Readonly<Record<KeyRole, readonly Permission[]>> = {
  admin: ['ingest', 'read', 'write', 'admin'],
  editor: ['ingest', 'read', 'write'],
  viewer: ['read'],
  ingest: ['ingest'],
};
