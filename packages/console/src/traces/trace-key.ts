// The API key of the trace routes. It is in the memory of this tab only: a reload asks for it again, and nothing stores it.
import { createPlatformClient, type PlatformClient } from '@svc/sdk';
import { useSyncExternalStore } from 'react';
import { apiUrl } from '../app/addresses.ts';

let current: PlatformClient | undefined;
const listeners = new Set<() => void>();

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const createTraceClient = (apiKey: string, workspaceId: string | undefined): PlatformClient =>
  createPlatformClient({ apiUrl, apiKey, ...(workspaceId === undefined ? {} : { workspaceId }) });

/** Replaces the client of all pages; undefined forgets the key. */
export const setTraceClient = (client: PlatformClient | undefined): void => {
  current = client;
  for (const listener of listeners) listener();
};

/** The client with the key that was entered, if any. */
export const useTraceClient = (): PlatformClient | undefined =>
  useSyncExternalStore(subscribe, () => current);
