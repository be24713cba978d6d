// What a thread has so far: its conversation, or the values of a state without one.
import type { ReactNode } from 'react';
import { entriesIn, StoredPart } from '../stored/stored-part.ts';
import { useLastElements, type StoredState } from '../stored/stored-queries.ts';
import { Failure, Skeleton } from '../ui/states.tsx';
import { ChannelList } from '../values/channel-list.tsx';
import { MessageList } from './message-list.tsx';
import { isObject, jsonMessage, readMessage, readMessages, type Message } from './read-messages.ts';

/** `newest`: how many messages are shown; earlier ones on request when absent. */
export const StateView = ({ state, newest }: { state: StoredState; newest?: number }): ReactNode => {
  const { values } = state;
  const messages = readMessages(values);
  if (messages.length > 0) return <MessageList messages={messages.slice(-(newest ?? messages.length))} />;
  const list = largeListOf(values);
  return list ? <LargeList list={list} values={values} newest={newest} /> : <Values values={values} />;
};

const Values = ({ values }: { values: unknown }): ReactNode => (
  <div className="messages">
    <ChannelList values={values} />
  </div>
);

/** The list of a state that may be a conversation, where the list is too large to be in the page. */
const largeListOf = (values: unknown): StoredPart | undefined => {
  if (!isObject(values)) return undefined;
  const isList = (value: unknown): value is StoredPart =>
    value instanceof StoredPart && value.type === 'array';
  return isList(values['messages']) ? values['messages'] : Object.values(values).find(isList);
};

const LargeList = ({
  list,
  values,
  newest,
}: {
  list: StoredPart;
  values: unknown;
  newest: number | undefined;
}): ReactNode => {
  const { data, error, refetch, fetchNextPage } = useLastElements(list);
  if (!data) return error ? <Failure error={error} onRetry={() => void refetch()} /> : <Skeleton />;
  const elements = data.pages.toReversed().flatMap((page) => entriesIn(list, page));
  const isConversation = elements.some(([, value]) => readMessage(value) !== undefined);
  if (!isConversation && !isMessages(list)) return <Values values={values} />;
  const messages = elements.map(([, value]) => toMessage(value)).filter((message) => message !== undefined);
  if (newest !== undefined) return <MessageList messages={messages.slice(-newest)} />;
  const earlier = data.pages.at(-1)?.offset ?? 0;
  return <MessageList messages={messages} earlier={{ count: earlier, load: () => void fetchNextPage() }} />;
};

const isMessages = ({ path }: StoredPart): boolean => path.join('/') === 'messages';

/** A message that is too large to be in the page is shown as a tree. */
const toMessage = (value: unknown): Message | undefined =>
  value instanceof StoredPart ? jsonMessage(value, value.path.join('/')) : readMessage(value);
