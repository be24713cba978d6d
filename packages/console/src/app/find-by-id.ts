// What a pasted id names: a thread, a run, or a trace.
import type { Client, PlatformClient } from '@svc/sdk';

export type FoundById =
  | { kind: 'thread'; threadId: string }
  | { kind: 'run'; runId: string; threadId: string }
  | { kind: 'trace'; traceId: string; spanId: string };

interface Clients {
  client: { threads: Pick<Client['threads'], 'search'>; runs: Pick<Client['runs'], 'search'> };
  /** Undefined without access to traces. */
  platform: { traces: Pick<PlatformClient['traces'], 'query'> } | undefined;
}

/** Uses searches, because a read of something that does not exist is an error. */
export const findById = async (
  clients: Clients,
  given: string,
  signal: AbortSignal,
): Promise<FoundById[]> => {
  const id = given.toLowerCase();
  const { client, platform } = clients;
  const [threads, runs, traces] = await Promise.all([
    client.threads.search({ ids: [id], select: ['thread_id'], limit: 1 }, { signal }),
    client.runs.search({ run_id: id, select: ['thread_id'], limit: 1 }, { signal }),
    platform?.traces.query({ id: [id], select: ['id', 'trace_id'], limit: 1 }, { signal }),
  ]);
  if (threads.length > 0) return [{ kind: 'thread', threadId: id }];
  // The root of a trace has the id of its run.
  return [
    ...runs.map(({ thread_id: threadId }) => ({ kind: 'run' as const, runId: id, threadId })),
    ...(traces?.runs ?? []).map(({ trace_id: traceId }) => ({ kind: 'trace' as const, traceId, spanId: id })),
  ];
};
