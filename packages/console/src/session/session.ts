import { useSyncExternalStore } from 'react';
import type { ConsoleSession } from '@svc/sdk';
import { apiUrl } from '../app/addresses.ts';
import { SessionStore, type SessionState } from './session-store.ts';

/** The session of this page. */
export const session = new SessionStore({ apiUrl, onOtherUser: () => location.reload() });

export const useSessionState = (): SessionState => useSyncExternalStore(session.subscribe, session.state);

/** Undefined until the server has answered. */
export const useSession = (): ConsoleSession | undefined => useSessionState().session;

/** Whether threads, runs and assistants can be read. */
export const useIsOpen = (): boolean => (useSession()?.deployment ?? null) !== null;
