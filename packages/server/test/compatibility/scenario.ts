import type { Wire } from './wire.ts';

/** Requests that are sent to both servers. `auth`: to servers with custom authentication. */
export interface Scenario {
  readonly name: string;
  readonly auth?: boolean;
  run(wire: Wire): Promise<void>;
}

export interface Thread {
  thread_id: string;
}

export interface Run {
  run_id: string;
  thread_id: string;
}

export interface State {
  values: Record<string, unknown>;
  next: string[];
  checkpoint: { checkpoint_id: string; checkpoint_ns: string };
  tasks: { checkpoint: { checkpoint_ns: string } | null }[];
}

/** Creates a thread, and returns its path. */
export const newThread = async (wire: Wire, body: object = {}): Promise<string> =>
  `/threads/${(await wire.send<Thread>('POST', '/threads', { body })).thread_id}`;

export const said = (content: string) => ({ messages: [{ role: 'user', content, id: `said-${content}` }] });

/** A thread on which `graph` has run. */
export const threadWithRun = async (
  wire: Wire,
  assistant_id: string,
  input: unknown,
  rest: object = {},
): Promise<string> => {
  const thread = await newThread(wire);
  await wire.send('POST', `${thread}/runs/wait`, { body: { assistant_id, input, ...rest } });
  return thread;
};
