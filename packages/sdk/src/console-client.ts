// The client of sessions of the console, for its pages. The browser keeps the cookie of the session.
import type { ConsoleSession, ListedSession } from '@svc/contract';
import { Transport, type Body, type CallOptions, type ClientOptions } from './transport.ts';

export interface ConsoleClient {
  /** How to sign in, and what the session of this browser opens. */
  session(options?: CallOptions): Promise<ConsoleSession>;
  signIn(entered: Body<'createConsoleSession'>, options?: CallOptions): Promise<ConsoleSession>;
  /** The sessions of the user or key. */
  sessions(options?: CallOptions): Promise<ListedSession[]>;
  /** Ends one of them. */
  end(sessionId: string, options?: CallOptions): Promise<void>;
  /** Ends the session of this browser; with `everywhere`, all sessions of its user or key. */
  signOut(options?: CallOptions & { everywhere?: boolean }): Promise<void>;
}

export const createConsoleClient = (options: ClientOptions): ConsoleClient => {
  const transport = new Transport(options);
  return {
    session: (options) => transport.call('getConsoleSession', {}, options),
    signIn: (body, options) => transport.call('createConsoleSession', { body }, options),
    sessions: (options) => transport.call('listConsoleSessions', {}, options),
    end: async (session_id, options) => {
      await transport.call('endOneConsoleSession', { params: { session_id } }, options);
    },
    signOut: async ({ everywhere = false, ...options } = {}) => {
      await transport.call(everywhere ? 'endAllConsoleSessions' : 'endConsoleSession', {}, options);
    },
  };
};
