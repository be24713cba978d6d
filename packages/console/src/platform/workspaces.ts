import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { ConsoleSession, PlatformClient, Workspace } from '@svc/sdk';
import { useSession } from '../session/session.ts';

type KeyRole = NonNullable<ConsoleSession['workspace']>['role'];

/** The workspaces to which the key has access. */
export const useWorkspaces = (client: PlatformClient): UseQueryResult<Workspace[]> =>
  useQuery({
    queryKey: ['workspaces', 'list'],
    queryFn: ({ signal }) => client.workspaces.list({ signal }),
    staleTime: 10_000,
  });

/** Why the key lacks the permission; undefined if it has one of the roles. A key has one role in all workspaces. */
const useLack = (...roles: KeyRole[]): string | undefined => {
  const { role, is_local: isLocal } = useSession()?.workspace ?? {};
  if (role === undefined || roles.includes(role)) return undefined;
  const need = `This needs a key with the role ${roles.join(' or ')}`;
  return isLocal === true ? need : `${need}; yours is ${role}`;
};

/** Why the key may not change exports, destinations and keys. */
export const useReadOnly = (): string | undefined => useLack('admin');

/** Why the key may not add feedback to traces. */
export const useNoWriting = (): string | undefined => useLack('editor', 'admin');
