import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { PlatformClient, Workspace } from '@svc/sdk';
import { useSession } from '../session/session.ts';
import { isSufficient, type NeededRole, sufficientText } from './key-roles.ts';

/** The workspaces to which the key has access. */
export const useWorkspaces = (client: PlatformClient): UseQueryResult<Workspace[]> =>
  useQuery({
    queryKey: ['workspaces', 'list'],
    queryFn: ({ signal }) => client.workspaces.list({ signal }),
    staleTime: 10_000,
  });

/** Why the key lacks the permission; undefined if its role is sufficient. A key has one role in all workspaces. */
const useLack = (needed: NeededRole): string | undefined => {
  const { role, is_local: isLocal } = useSession()?.workspace ?? {};
  if (role === undefined || isSufficient(role, needed)) return undefined;
  const need = `This needs a key with the role ${sufficientText(needed)}`;
  return isLocal === true ? need : `${need}; yours is ${role}`;
};

/** Why the key may not change exports, destinations and keys. */
export const useReadOnly = (): string | undefined => useLack('admin');

/** Why the key may not add feedback to traces. */
export const useNoWriting = (): string | undefined => useLack('editor');
