// Runs the scenarios one after the other, and collects a report.
import { CheckFailed, NotTried } from './check.ts';
import { type Area, areas, type AreaScenarios } from './scenario.ts';
import { type ClientOptions, ServerClient } from './server-client.ts';
import { a2a } from './scenarios/a2a.ts';
import { access } from './scenarios/access.ts';
import { assistants } from './scenarios/assistants.ts';
import { crons } from './scenarios/crons.ts';
import { interrupts } from './scenarios/interrupts.ts';
import { mcp } from './scenarios/mcp.ts';
import { runs } from './scenarios/runs.ts';
import { store } from './scenarios/store.ts';
import { streams } from './scenarios/streams.ts';
import { system } from './scenarios/system.ts';
import { threadProtocol } from './scenarios/thread-protocol.ts';
import { threads } from './scenarios/threads.ts';
import { websocket } from './scenarios/websocket.ts';

export interface ConformanceOptions {
  /** The address of the server, with its mount prefix. */
  url: string;
  /** Headers of every request, such as a credential. */
  headers?: Readonly<Record<string, string>>;
  /** Headers with the credential of another user. */
  secondHeaders?: Readonly<Record<string, string>> | undefined;
  /** Only these areas. */
  only?: readonly Area[] | undefined;
  /** Graph ids of the agents that the scenarios run. */
  agent?: string;
  approval?: string;
  /** Time limit of one scenario. */
  timeoutMs?: number;
  /** Called after each scenario. */
  onResult?: (result: ScenarioResult) => void;
}

export type Outcome = 'passed' | 'failed' | 'not tried';

export interface ScenarioResult {
  area: Area;
  title: string;
  outcome: Outcome;
  /** Why it failed or was not tried. */
  reason?: string;
  ms: number;
}

export interface ConformanceReport {
  url: string;
  /** True when a scenario passed and none failed. */
  passed: boolean;
  counts: Record<Outcome, number>;
  results: ScenarioResult[];
}

/** The server could not be reached at all. */
export class ServerNotReached extends Error {
  override readonly name = 'ServerNotReached';
}

const usual = { agent: 'agent', approval: 'approval', timeoutMs: 60_000 };

export const runConformance = async (given: ConformanceOptions): Promise<ConformanceReport> => {
  const options = { ...usual, ...given, url: given.url.replace(/\/+$/, '') };
  const client = (signal: AbortSignal): ServerClient => new ServerClient(clientOptions(options, signal));
  const limited = (): ServerClient => client(AbortSignal.timeout(options.timeoutMs));
  await assertReachable(limited());
  const results: ScenarioResult[] = [];
  const only = options.only ?? [];
  for (const part of allScenarios) {
    if (only.length > 0 && !only.includes(part.area)) continue;
    const absent = only.includes(part.area) ? undefined : await reasonOf(part, limited());
    for (const [title, run] of Object.entries(part.scenarios)) {
      const result =
        absent === undefined
          ? await tryScenario({ area: part.area, title }, run, { client, timeoutMs: options.timeoutMs })
          : { area: part.area, title, outcome: 'not tried' as const, reason: absent, ms: 0 };
      results.push(result);
      options.onResult?.(result);
    }
  }
  const count = (outcome: Outcome): number => results.filter((result) => result.outcome === outcome).length;
  const counts = { passed: count('passed'), failed: count('failed'), 'not tried': count('not tried') };
  return { url: options.url, passed: counts.failed === 0 && counts.passed > 0, counts, results };
};

const clientOptions = (
  { url, headers = {}, secondHeaders, agent, approval }: ConformanceOptions & typeof usual,
  signal: AbortSignal,
): ClientOptions => ({ url, headers, secondHeaders, agent, approval, signal });

const assertReachable = async (server: ServerClient): Promise<void> => {
  try {
    await server.send('GET', '/ok');
  } catch (cause) {
    throw new ServerNotReached(`The server does not answer: ${messageOf(cause)}`, { cause });
  }
};

const reasonOf = async ({ absent }: AreaScenarios, server: ServerClient): Promise<string | undefined> => {
  try {
    return await absent?.(server);
  } catch {
    return undefined; // the scenarios meet the same error, and report it
  }
};

interface Trying {
  client: (signal: AbortSignal) => ServerClient;
  timeoutMs: number;
}

const tryScenario = async (
  scenario: Pick<ScenarioResult, 'area' | 'title'>,
  run: (server: ServerClient) => Promise<void>,
  { client, timeoutMs }: Trying,
): Promise<ScenarioResult> => {
  const startedMs = performance.now();
  const end = (outcome: Outcome, reason?: string): ScenarioResult => ({
    ...scenario,
    outcome,
    ...(reason === undefined ? {} : { reason }),
    ms: Math.round(performance.now() - startedMs),
  });
  const left = new AbortController();
  const late = (): void =>
    left.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  const timer = setTimeout(late, timeoutMs);
  const server = client(left.signal);
  try {
    await run(server);
    await server.deleteThreads();
    return end('passed');
  } catch (error) {
    // The threads of a failed scenario stay, to look at.
    if (error instanceof NotTried) return end('not tried', error.message);
    return end('failed', messageOf(error));
  } finally {
    clearTimeout(timer);
    // Closes the streams that the scenario has left open.
    left.abort();
  }
};

const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof CheckFailed) return error.message;
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${error.name}: ${error.message}${cause}`;
};

export const isArea = (name: string): name is Area => (areas as readonly string[]).includes(name);

const allScenarios: readonly AreaScenarios[] = [
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
