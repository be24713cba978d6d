import { assistants } from './assistants.ts';
import type { ListedDifference } from './difference.ts';
import { errors } from './errors.ts';
import { messages } from './messages.ts';
import { others } from './others.ts';
import { runs } from './runs.ts';
import { states } from './states.ts';
import { streams } from './streams.ts';
import { threadProtocol } from './thread-protocol.ts';
import { threads } from './threads.ts';

/** The sections of docs/compatibility.md. */
export const listed: Readonly<Record<string, readonly ListedDifference[]>> = {
  Errors: errors,
  Assistants: assistants,
  Threads: threads,
  States: states,
  Messages: messages,
  Runs: runs,
  Streams: streams,
  'Thread protocol': threadProtocol,
  'Crons, store, authentication and system': others,
};
