import type { ConsoleSession, Workspace } from '@svc/sdk';
import type { UseQueryResult } from '@tanstack/react-query';
import { useSession } from '../session/session.ts';
import { usePlatformQuery } from './platform-access.ts';

/** The workspaces to which the key has access. */
export const useWorkspaces = (): UseQueryResult<Workspace[]> =>
  usePlatformQuery({
    queryKey: ['workspaces', 'list'],
    read: (client, call) => client.workspaces.list(call),
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

export type KeyRole = NonNullable<ConsoleSession['workspace']>['role'];

/** The role that a page needs: `viewer` reads, `editor` also adds feedback, `admin` changes everything. */
export type NeededRole = Exclude<KeyRole, 'ingest'>;

const sufficient: Record<NeededRole, readonly KeyRole[]> = {
  viewer: ['viewer', 'editor', 'admin'],
  editor: ['editor', 'admin'],
  admin: ['admin'],
};

export const isSufficient = (role: KeyRole, needed: NeededRole): boolean => sufficient[needed].includes(role);

/** `editor or admin` */
const sufficientText = (needed: NeededRole): string => sufficient[needed].join(' or ');
