import type { ServerClient } from './server-client.ts';

export const areas = [
  'system',
  'assistants',
  'threads',
  'runs',
  'streams',
  'interrupts',
  'store',
  'crons',
  'thread-protocol',
  'websocket',
  'access',
  'mcp',
  'a2a',
] as const;
export type Area = (typeof areas)[number];

/** By their titles, which state the behaviour that is checked. */
export type Scenarios = Readonly<Record<string, (server: ServerClient) => Promise<void>>>;

/** The scenarios of an area. */
export interface AreaScenarios {
  area: Area;
  /** For areas that a server may lack: why they cannot be tried; undefined when they can. Not called for areas that the user names. */
  absent?: (server: ServerClient) => Promise<string | undefined>;
  scenarios: Scenarios;
}
