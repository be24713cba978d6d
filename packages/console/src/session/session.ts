import { useSyncExternalStore } from 'react';
import type { ConsoleSession } from '@svc/sdk';
import { apiUrl } from '../app/addresses.ts';
import { SessionStore, type SessionState } from './session-store.ts';

/** The tabs of a browser share a session: each tells the others when it has begun or ended. */
const tabs = new BroadcastChannel('svc-console-session');

/** The session of this page. */
export const session = new SessionStore({
  apiUrl,
  onOtherUser: () => location.reload(),
  onChange: () => tabs.postMessage('changed'),
});

tabs.addEventListener('message', () => {
  // A tab that cannot reach the server reads the session with its next request.
  session.load({ isFromOtherTab: true }).catch(() => undefined);
});

export const useSessionState = (): SessionState => useSyncExternalStore(session.subscribe, session.state);

/** Undefined until the server has answered. */
export const useSession = (): ConsoleSession | undefined => useSessionState().session;

/** Whether threads, runs and assistants can be read. */
export const useIsOpen = (): boolean => (useSession()?.deployment ?? null) !== null;

/** Whether the traces are shown because everybody on this machine may look at them, and not because of a key. */
export const useIsLocal = (): boolean => useSession()?.workspace?.is_local === true;
