import type { Scenario } from '../scenario.ts';
import { assistants } from './assistants.ts';
import { auth } from './auth.ts';
import { configs } from './configs.ts';
import { crons } from './crons.ts';
import { errors } from './errors.ts';
import { graphs } from './graphs.ts';
import { breakpoints, interrupts, parallelInterrupts } from './interrupts.ts';
import { joins } from './joins.ts';
import { multitask } from './multitask.ts';
import { cancelledRuns, runs, statelessRuns } from './runs.ts';
import { schemas } from './schemas.ts';
import { messageState, state, subgraphState } from './state.ts';
import { store } from './store.ts';
import { streams } from './streams.ts';
import { system } from './system.ts';
import { threadProtocol, threadProtocolInterrupts } from './thread-protocol.ts';
import { supersteps, threads, usedThreads } from './threads.ts';

export const scenarios: readonly Scenario[] = [
  system,
  assistants,
  graphs,
  schemas,
  threads,
  usedThreads,
  supersteps,
  state,
  messageState,
  subgraphState,
  runs,
  statelessRuns,
  cancelledRuns,
  configs,
  ...streams,
  joins,
  interrupts,
  breakpoints,
  parallelInterrupts,
  multitask,
  threadProtocol,
  threadProtocolInterrupts,
  errors,
  store,
  crons,
  auth,
];
