// Reads of states in parts: an answer has at most a megabyte, whatever the size of the state.
import { type UseQueryResult } from '@tanstack/react-query';
import { ApiError, type Client, type StateValue } from '@svc/sdk';
import { useClient, useServerQuery } from '../api/client.tsx';
import { usePagedQuery, type PagedQuery } from '../api/paged-query.ts';
import { entriesIn, StoredPart, type StateAt } from './stored-part.ts';

/** Entries up to this many characters of JSON come with their list. */
const wholeMax = 65_536;
const pageSize = 100;
/** Elements of a conversation for each read. */
const messagesMax = 50;
/** After the first answer, values of a state come whole up to this many characters: an answer ends at a megabyte. */
const laterWholeMax = 2_048;
const limitMax = 1_000;
/** A state with more answers is shown as a tree of its values. */
const answersMax = 10;
/** Characters of a text for each read. */
const charsMax = 65_536;
/** The steps of a run are not notified. */
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
): UseQueryResult<StoredState> =>
  useServerQuery({
    queryKey: [
      'thread',
      threadId,
      'state',
      'values',
      checkpointId === null ? 'none' : (checkpointId ?? 'newest'),
    ],
    read: (client, call) =>
      readState(client, { threadId, checkpointId: checkpointId ?? undefined }, call.signal),
    enabled: checkpointId !== null,
    // A checkpoint never changes.
    staleTime: checkpointId === undefined ? 0 : 'static',
    refetchInterval: isLive ? liveMs : false,
  });

const readState = async (
  client: Client,
  { threadId, checkpointId }: StateAt,
  signal: AbortSignal,
): Promise<StoredState> => {
  const read = (page: { checkpointId: string | undefined; whole: number; offset?: number }) =>
    client.threads.getStateValue(
      threadId,
      { limit: limitMax, chars: charsMax, digests: checkpointId !== undefined, ...page },
      { signal },
    );
  const first = await read({ checkpointId, whole: wholeMax });
  const at = { threadId, checkpointId: first.checkpoint_id ?? undefined };
  const pages = [first];
  let { next } = first;
  while (first.type === 'object' && next !== undefined && pages.length < answersMax) {
    const later = await read({ checkpointId: at.checkpointId, whole: laterWholeMax, offset: next });
    pages.push(later);
    ({ next } = later);
  }
  const entries = pages.flatMap((page) => entriesIn({ at, path: [] }, page));
  return { at, values: next === undefined ? valuesOf(first, entries) : new StoredPart(at, [], first) };
};

const valuesOf = (answer: StateValue, entries: [string, unknown][]): unknown => {
  if (answer.type === 'object') return Object.fromEntries(entries);
  if (answer.type === 'array') return entries.map(([, element]) => element);
  return answer.type === 'string' ? answer.text : answer.value;
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

interface PartPage {
  offset: number;
  limit?: number;
  chars?: number;
  whole?: number;
}

/** Asks for fewer entries when so many exceed what one answer may read. */
const readPart = async (
  client: Client,
  { at, path }: StoredPart,
  page: PartPage,
  signal: AbortSignal,
): Promise<StateValue> => {
  for (let { limit = 1 } = page; ; limit = Math.floor(limit / 10)) {
    try {
      const asked = { checkpointId: at.checkpointId, path, ...page, limit };
      return await client.threads.getStateValue(at.threadId, asked, { signal });
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 413 || limit < 10) throw error;
    }
  }
};

/** All elements from `offset` up to `end`: an answer may end before. */
const readElements = async (
  client: Client,
  part: StoredPart,
  { offset, end }: { offset: number; end: number },
  signal: AbortSignal,
): Promise<StateValue> => {
  const page = await readPart(client, part, { offset, limit: end - offset, whole: wholeMax }, signal);
  if (page.next === undefined || page.next >= end) return page;
  const rest = await readElements(client, part, { offset: page.next, end }, signal);
  return { ...page, entries: [...(page.entries ?? []), ...(rest.entries ?? [])] };
};

/** Entries of a list or an object from its beginning, a page at a time. */
export const useEntries = (part: StoredPart): PagedQuery<StateValue> => {
  const client = useClient();
  const queryKey = [...keyOf(part), 'entries', part.from];
  return usePagedQuery({
    queryKey,
    read: (offset: number = part.from, { signal }) =>
      readPart(client, part, { offset, limit: pageSize }, signal),
    next: ({ next }) => next,
    staleTime: 'static',
    placeholderData: whileRead(queryKey),
  });
};

/** Elements of a list from its end, a page at a time. */
export const useLastElements = (part: StoredPart): PagedQuery<StateValue> => {
  const client = useClient();
  const queryKey = [...keyOf(part), 'last'];
  return usePagedQuery({
    queryKey,
    read: (end: number = part.length, { signal }) =>
      readElements(client, part, { offset: Math.max(0, end - messagesMax), end }, signal),
    next: ({ offset }) => (offset === 0 ? undefined : offset),
    staleTime: 'static',
    placeholderData: whileRead(queryKey),
  });
};

/** A text from its beginning. */
export const useText = (part: StoredPart, isOpen: boolean): PagedQuery<StateValue> => {
  const client = useClient();
  return usePagedQuery({
    queryKey: [...keyOf(part), 'text'],
    read: (offset: number = 0, { signal }) => readPart(client, part, { offset, chars: charsMax }, signal),
    next: ({ next }) => next,
    enabled: isOpen,
    staleTime: 'static',
  });
};
