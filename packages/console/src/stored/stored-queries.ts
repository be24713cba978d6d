// Reads of states in parts: an answer has at most a megabyte, whatever the size of the state.
import {
  useInfiniteQuery,
  useQuery,
  type InfiniteData,
  type UseInfiniteQueryResult,
  type UseQueryResult,
} from '@tanstack/react-query';
import type { StateValue } from '@svc/sdk';
import { useClient } from '../api/client.tsx';
import { entriesIn, StoredPart, type StateAt } from './stored-part.ts';

/** Entries up to this many characters of JSON come with their list. */
const wholeMax = 65_536;
const channelsMax = 1_000;
const pageSize = 100;
/** Characters of a text for each read. */
const charsMax = 65_536;
/** The steps of a run are not in the feed. */
const liveMs = 5_000;

export interface StoredState {
  at: StateAt;
  /** The values of the state; large ones are a `StoredPart`. */
  values: unknown;
}

/** The values of a thread at a checkpoint, or at its newest when undefined; those of a checkpoint can be compared. */
export const useStoredState = (
  threadId: string,
  checkpointId: string | null | undefined,
  { isLive = false }: { isLive?: boolean } = {},
): UseQueryResult<StoredState> => {
  const client = useClient();
  return useQuery({
    queryKey: ['thread', threadId, 'state', 'values', checkpointId ?? 'newest'],
    queryFn: async ({ signal }) => {
      const sizes = { limit: channelsMax, whole: wholeMax, chars: 0, digests: checkpointId !== undefined };
      const answer = await client.threads.getStateValue(
        threadId,
        { checkpointId: checkpointId ?? undefined, ...sizes },
        { signal },
      );
      return toState(threadId, answer);
    },
    enabled: checkpointId !== null,
    // A checkpoint never changes.
    staleTime: checkpointId === undefined ? 0 : Infinity,
    refetchInterval: isLive ? liveMs : false,
  });
};

const toState = (threadId: string, answer: StateValue): StoredState => {
  const at = { threadId, checkpointId: answer.checkpoint_id ?? undefined };
  if (answer.type !== 'object' || answer.next !== undefined)
    return { at, values: answer.value ?? new StoredPart(at, [], answer) };
  return { at, values: Object.fromEntries(entriesIn({ at, path: [] }, answer)) };
};

/** Begins with what identifies the part in all checkpoints. */
const keyOf = ({ at, path }: StoredPart): unknown[] => [
  'thread',
  at.threadId,
  'part',
  JSON.stringify(path),
  at.checkpointId,
];
const placeParts = 4;

/** While the same part of a newer checkpoint is read, the earlier one stays. */
const whileRead =
  (key: unknown[]) =>
  <Data>(data: Data | undefined, query: { queryKey: readonly unknown[] } | undefined): Data | undefined =>
    key.slice(0, placeParts).every((one, index) => query?.queryKey[index] === one) ? data : undefined;

const readPart = (
  client: ReturnType<typeof useClient>,
  { at, path }: StoredPart,
  page: { offset: number; limit?: number; chars?: number; whole?: number },
  signal: AbortSignal,
): Promise<StateValue> =>
  client.threads.getStateValue(at.threadId, { checkpointId: at.checkpointId, path, ...page }, { signal });

/** Entries of a list or an object from its beginning, a page at a time. */
export const useEntries = (part: StoredPart): UseInfiniteQueryResult<InfiniteData<StateValue, number>> => {
  const client = useClient();
  const queryKey = [...keyOf(part), 'entries', part.from];
  return useInfiniteQuery({
    queryKey,
    queryFn: ({ signal, pageParam }) =>
      readPart(client, part, { offset: pageParam, limit: pageSize }, signal),
    initialPageParam: part.from,
    getNextPageParam: ({ next }) => next,
    staleTime: Infinity,
    placeholderData: whileRead(queryKey),
  });
};

/** Elements of a list from its end, a page at a time. */
export const useLastElements = (
  part: StoredPart | undefined,
): UseInfiniteQueryResult<InfiniteData<StateValue, number>> => {
  const client = useClient();
  const length = part?.length ?? 0;
  const queryKey = part ? [...keyOf(part), 'last'] : ['no part'];
  return useInfiniteQuery({
    queryKey,
    queryFn: ({ signal, pageParam: end }) => {
      if (!part) throw new Error('There is no part to read');
      const offset = Math.max(0, end - pageSize);
      return readPart(client, part, { offset, limit: end - offset, whole: wholeMax }, signal);
    },
    enabled: part !== undefined,
    initialPageParam: length,
    getNextPageParam: ({ offset }) => (offset === 0 ? undefined : offset),
    staleTime: Infinity,
    placeholderData: whileRead(queryKey),
  });
};

/** A text from its beginning. */
export const useText = (
  part: StoredPart,
  isOpen: boolean,
): UseInfiniteQueryResult<InfiniteData<StateValue, number>> => {
  const client = useClient();
  return useInfiniteQuery({
    queryKey: [...keyOf(part), 'text'],
    queryFn: ({ signal, pageParam }) =>
      readPart(client, part, { offset: pageParam, chars: charsMax }, signal),
    enabled: isOpen,
    initialPageParam: 0,
    getNextPageParam: ({ next }) => next,
    staleTime: Infinity,
  });
};
