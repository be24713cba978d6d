// svc health: checks whether a server is ready, for people and for the health checks of containers.
import type { RouteOutput, systemRoutes } from '@svc/contract';
import { ServerUnreachable } from '../output/exit-code.ts';
import type { FlagValues } from '../flags.ts';
import { addressOf, fetchFrom, mistake, printable } from '../server-address.ts';

type Ready = Partial<RouteOutput<(typeof systemRoutes)['getReady']>>;

/** Prints the state of the server. Throws ServerUnreachable when it does not answer in time, or is not ready. */
export async function health(values: FlagValues): Promise<void> {
  const timeoutMs = millisecondsOf(values['timeout']);
  const { url } = addressOf(values);
  const signal = AbortSignal.timeout(timeoutMs);
  // Probes have no mount prefix.
  const answer = await ask(fetchFrom(url), new URL('/ready', url), signal);
  if (answer.status !== 200) {
    const { message } = answer.body as { message?: unknown };
    throw new ServerUnreachable(
      `The server at ${url} is not ready (${answer.status}): ${printable(typeof message === 'string' ? message : 'it gives no reason')}`,
    );
  }
  const {
    workers,
    running,
    pending,
    failed_graphs = [],
    failed_store_index,
    blocked_executors = 0,
  } = answer.body as Ready;
  console.log(`${url} is ready: ${workers} live workers, ${running} runs running, ${pending} pending`);
  if (failed_graphs.length > 0)
    console.log(
      `Graphs that cannot be loaded: ${printable(failed_graphs.join(', '))}. The log of the server has the reasons.`,
    );
  if (blocked_executors > 0) console.log(`Executors that are blocked by a graph: ${blocked_executors}`);
  if (failed_store_index)
    console.log('The embedding model of store.index cannot be loaded. The log of the server has the reason.');
}

const ask = async (
  request: typeof fetch,
  url: URL,
  signal: AbortSignal,
): Promise<{ status: number; body: object }> => {
  try {
    const response = await request(url, { signal });
    const text = await response.text();
    return { status: response.status, body: objectIn(text) };
  } catch (cause) {
    if (!signal.aborted) throw cause;
    throw new ServerUnreachable(`The server at ${url.origin} does not answer in time`, { cause });
  }
};

/** Something else than a server may listen at the address. */
const objectIn = (text: string): object => {
  try {
    return { ...(JSON.parse(text) as object | null) };
  } catch {
    return {};
  }
};

const millisecondsOf = (given: unknown): number => {
  const seconds = Number(given);
  if (seconds > 0 && seconds <= 3_600) return seconds * 1_000;
  throw mistake('--timeout', String(given), 'Give seconds, from 1 to 3600.');
};
