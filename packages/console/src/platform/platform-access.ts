// Access to the routes of workspaces: traces, exports and keys. They need the key of a workspace, which the session of this browser may hold.
// Which workspace of a key with several the pages show is in the memory of this tab.
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { createPlatformClient, type PlatformClient } from '@svc/sdk';
import { useSyncExternalStore } from 'react';
import type { ReadOptions } from '../api/client.tsx';
import { apiUrl } from '../app/addresses.ts';
import { reach } from '../session/reach.ts';
import { session, useSession } from '../session/session.ts';

export interface PlatformAccess {
  client: PlatformClient;
  workspaceId: string;
}

/** `signedIn`: the workspace of the session in which the other was chosen. */
let choice: { signedIn: string; chosen: string } | undefined;
const listeners = new Set<() => void>();
const clients = new Map<string, PlatformClient>();

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

const clientOf = (workspaceId: string): PlatformClient => {
  const client =
    clients.get(workspaceId) ?? createPlatformClient({ apiUrl, workspaceId, fetch: reach.fetch });
  clients.set(workspaceId, client);
  return client;
};

/** Undefined when the session has no key of a workspace. */
export const useAccess = (): PlatformAccess | undefined => {
  const { id: signedIn, is_local: isLocal } = useSession()?.workspace ?? {};
  const current = useSyncExternalStore(subscribe, () => choice);
  if (signedIn === undefined) return undefined;
  // Without a key of the user, there is one workspace.
  const workspaceId = current?.signedIn === signedIn && isLocal !== true ? current.chosen : signedIn;
  return { client: clientOf(workspaceId), workspaceId };
};

/** The client of the workspace that the pages show. Throws without a key: use it inside of a `KeyGate`. */
export const usePlatform = (): PlatformClient => {
  const access = useAccess();
  if (!access) throw new Error('usePlatform() needs the key of a workspace');
  return access.client;
};

/** Shows another workspace of the session's key on all pages. */
export const chooseWorkspace = (chosen: string): void => {
  const signedIn = session.state().session?.workspace?.id;
  choice = signedIn === undefined ? undefined : { signedIn, chosen };
  for (const listener of listeners) listener();
};

/** Reads something of a workspace. */
export const usePlatformQuery = <Data>({
  read,
  ...options
}: ReadOptions<PlatformClient, Data>): UseQueryResult<Data> => {
  const client = usePlatform();
  return useQuery({ ...options, queryFn: ({ signal }) => read(client, { signal }) });
};
