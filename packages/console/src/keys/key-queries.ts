import { type UseQueryResult } from '@tanstack/react-query';
import type { ApiKey } from '@svc/sdk';
import type { KeyNeed } from '../platform/key-gate.tsx';
import { usePlatformQuery } from '../platform/platform-access.ts';

export const keysNeed = { what: 'Keys', role: 'admin' } as const satisfies KeyNeed;

export type KeyRole = ApiKey['role'];

/** What each role may do, the most powerful first. */
export const roles: Record<KeyRole, string> = {
  admin: 'everything, also exports, keys and workspaces',
  editor: 'read, write and send traces',
  viewer: 'read',
  ingest: 'send traces, and read nothing',
};

/** Keys of the workspace, without revoked ones. */
export const useKeys = (): UseQueryResult<ApiKey[]> =>
  usePlatformQuery({
    queryKey: ['workspaces', 'keys'],
    read: (client, call) => client.keys.list(call),
    staleTime: 5_000,
    refetchInterval: 30_000,
  });
