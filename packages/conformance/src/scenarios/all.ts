import type { AreaScenarios } from '../scenario.ts';
import { a2a } from './a2a.ts';
import { access } from './access.ts';
import { assistants } from './assistants.ts';
import { crons } from './crons.ts';
import { interrupts } from './interrupts.ts';
import { mcp } from './mcp.ts';
import { runs } from './runs.ts';
import { store } from './store.ts';
import { streams } from './streams.ts';
import { system } from './system.ts';
import { threadProtocol } from './thread-protocol.ts';
import { threads } from './threads.ts';
import { websocket } from './websocket.ts';

export const allScenarios: readonly AreaScenarios[] = [
  system,
  assistants,
  threads,
  runs,
  streams,
  interrupts,
  store,
  crons,
  threadProtocol,
  websocket,
  access,
  mcp,
  a2a,
];
