import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { PlatformClient, Workspace } from '@svc/sdk';

/** The workspaces to which the key has access. */
export const useWorkspaces = (client: PlatformClient): UseQueryResult<Workspace[]> =>
  useQuery({
    queryKey: ['workspaces', 'list'],
    queryFn: ({ signal }) => client.workspaces.list({ signal }),
    staleTime: 10_000,
  });

/** Why the key may not change anything; undefined while it may, or while its role is unknown. A key has one role in all workspaces. */
export const useReadOnly = (client: PlatformClient): string | undefined => {
  const { data } = useWorkspaces(client);
  const [first] = data ?? [];
  return first === undefined || first.permissions.includes('admin')
    ? undefined
    : `This needs a key with the role admin; yours is ${first.role_name}`;
};
