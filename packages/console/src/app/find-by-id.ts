// What a pasted id names: a thread, a run, or a trace.
import type { Client, PlatformClient } from '@svc/sdk';

export type FoundById =
  | { kind: 'thread'; threadId: string }
  | { kind: 'run'; runId: string; threadId: string }
  | { kind: 'trace'; traceId: string; spanId: string };

interface Clients {
  client: { threads: Pick<Client['threads'], 'search'>; runs: Pick<Client['runs'], 'searchPage'> };
  /** Undefined without access to traces. */
  platform: { traces: Pick<PlatformClient['traces'], 'query'> } | undefined;
}

/** The most runs of a page, as the API allows. */
const pageMax = 1_000;
/** A run is read through its thread, and no request finds the thread of a run: this many pages of the newest runs are searched. */
const pagesMax = 5;

/** The thread of a run, among the newest runs of the server or, where it is known, of a thread. */
const findRun = async (
  { client }: Clients,
  { runId, threadId }: { runId: string; threadId: string | undefined },
  signal: AbortSignal,
): Promise<FoundById[]> => {
  let cursor: string | undefined;
  for (let page = 0; page < pagesMax; page++) {
    const { runs, next } = await client.runs.searchPage(
      {
        select: ['run_id', 'thread_id'],
        limit: pageMax,
        ...(threadId === undefined ? {} : { thread_id: threadId }),
        ...(cursor === undefined ? {} : { cursor }),
      },
      { signal },
    );
    const found = runs.find(({ run_id: id }) => id === runId);
    if (found) return [{ kind: 'run', runId, threadId: found.thread_id }];
    if (next === undefined) break;
    cursor = next;
  }
  return [];
};

const textIn = (metadata: unknown, name: string): string | undefined => {
  const value = (metadata as Record<string, unknown> | undefined)?.[name];
  return typeof value === 'string' ? value : undefined;
};

/** Uses searches, because a read of something that does not exist is an error. */
export const findById = async (
  clients: Clients,
  given: string,
  signal: AbortSignal,
): Promise<FoundById[]> => {
  const id = given.toLowerCase();
  const { client, platform } = clients;
  const [threads, traces] = await Promise.all([
    client.threads.search({ ids: [id], select: ['thread_id'], limit: 1 }, { signal }),
    platform?.traces.query({ id: [id], select: ['id', 'trace_id', 'extra'], limit: 1 }, { signal }),
  ]);
  if (threads.length > 0) return [{ kind: 'thread', threadId: id }];
  const [span] = traces?.runs ?? [];
  // The root of a trace has the id of its run.
  const threadId = textIn(span?.extra?.['metadata'], 'thread_id');
  const isSpan = span !== undefined && span.trace_id !== id;
  const runs = isSpan ? [] : await findRun(clients, { runId: id, threadId }, signal);
  return [...runs, ...(span ? [{ kind: 'trace' as const, traceId: span.trace_id, spanId: id }] : [])];
};
