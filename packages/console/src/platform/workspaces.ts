import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { PlatformClient, Workspace } from '@svc/sdk';
import { useIsLocal } from '../session/session.ts';

/** The workspaces to which the key has access. */
export const useWorkspaces = (client: PlatformClient): UseQueryResult<Workspace[]> =>
  useQuery({
    queryKey: ['workspaces', 'list'],
    queryFn: ({ signal }) => client.workspaces.list({ signal }),
    staleTime: 10_000,
  });

/** Why the key lacks the permission; undefined if it has the permission, or while its role is unknown. A key has one role in all workspaces. */
const useLack = (client: PlatformClient, permission: string, roles: string): string | undefined => {
  const { data } = useWorkspaces(client);
  const isLocal = useIsLocal();
  const [first] = data ?? [];
  if (first === undefined || first.permissions.includes(permission)) return undefined;
  const need = `This needs a key with the role ${roles}`;
  return isLocal ? `${need}: enter one at the top right` : `${need}; yours is ${first.role_name}`;
};

/** Why the key may not change exports, destinations and keys. */
export const useReadOnly = (client: PlatformClient): string | undefined => useLack(client, 'admin', 'admin');

/** Why the key may not add feedback to traces. */
export const useNoWriting = (client: PlatformClient): string | undefined =>
  useLack(client, 'write', 'editor or admin');
