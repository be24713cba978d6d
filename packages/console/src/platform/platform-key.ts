// The API key of the routes of workspaces: traces, exports and keys. It is in the memory of this tab only: a reload asks for it again, and
// nothing stores it.
import { createPlatformClient, type PlatformClient } from '@svc/sdk';
import { useSyncExternalStore } from 'react';
import { apiUrl } from '../app/addresses.ts';

export interface KeyAccess {
  client: PlatformClient;
  /** Undefined while the key has one workspace, which then needs no name. */
  workspaceId: string | undefined;
  /** The same key in another workspace. */
  in: (workspaceId: string) => KeyAccess;
}

let current: KeyAccess | undefined;
const listeners = new Set<() => void>();

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const openAccess = (apiKey: string, workspaceId: string | undefined): KeyAccess => ({
  client: createPlatformClient({ apiUrl, apiKey, ...(workspaceId === undefined ? {} : { workspaceId }) }),
  workspaceId,
  in: (other) => openAccess(apiKey, other),
});

/** Replaces the access of all pages; undefined forgets the key. */
export const setAccess = (access: KeyAccess | undefined): void => {
  current = access;
  for (const listener of listeners) listener();
};

/** The access with the key that was entered, if any. */
export const useAccess = (): KeyAccess | undefined => useSyncExternalStore(subscribe, () => current);
