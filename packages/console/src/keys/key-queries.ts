import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { ApiKey, PlatformClient } from '@svc/sdk';
import type { KeyNeed } from '../platform/key-gate.tsx';

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
export const useKeys = (client: PlatformClient): UseQueryResult<ApiKey[]> =>
  useQuery({
    queryKey: ['workspaces', 'keys'],
    queryFn: ({ signal }) => client.keys.list({ signal }),
    staleTime: 5_000,
    refetchInterval: 30_000,
  });
