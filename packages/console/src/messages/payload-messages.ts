// Finds the conversations in the inputs and outputs of a span: the state of a graph, the lists of messages that a model gets, its
// generations, or one message.
import { plainMessage } from './plain-message.ts';
import { isBlank, isObject, jsonMessage, readMessage, type Message } from './read-messages.ts';

export interface PayloadMessages {
  /** A model may get several at once. None is empty. */
  conversations: Message[][];
  /** Everything of the payload beside the messages; undefined if there is nothing else. */
  rest: unknown;
}

type Fields = Record<string, unknown>;

const depthMax = 6;
/** Keys of values around messages, in the order in which they are tried. */
const wrappers = ['messages', 'generations', 'choices', 'message', 'output', 'input', 'update'];

/** Undefined for a payload without messages. */
export const payloadMessages = (payload: unknown): PayloadMessages | undefined => {
  const found = find(payload, 0);
  return found && { ...found, conversations: found.conversations.map(withOwnIds) };
};

const find = (value: unknown, depth: number): PayloadMessages | undefined => {
  if (depth > depthMax) return undefined;
  const message = toMessage(value);
  if (message) return { conversations: [[message]], rest: undefined };
  if (Array.isArray(value)) return inList(value, depth);
  return isObject(value) ? inObject(value, depth) : undefined;
};

const inList = (list: readonly unknown[], depth: number): PayloadMessages | undefined => {
  if (hasMessages(list))
    return {
      conversations: [list.map((element) => toMessage(element) ?? oddMessage(element))],
      rest: undefined,
    };
  const found = list.map((element) => find(element, depth + 1));
  if (found.every((one) => one === undefined)) return undefined;
  const rests = list.map((element, index) => {
    const one = found[index];
    return one ? one.rest : element;
  });
  return {
    conversations: found.flatMap((one) => one?.conversations ?? []),
    rest: rests.every((rest) => rest === undefined) ? undefined : rests.filter((rest) => rest !== undefined),
  };
};

const hasMessages = (value: unknown): boolean =>
  Array.isArray(value) && value.some((element) => plainMessage(element) !== undefined);

const inObject = (value: Fields, depth: number): PayloadMessages | undefined => {
  for (const key of [...wrappers, ...listsIn(value)]) {
    if (!Object.hasOwn(value, key)) continue;
    const found = find(value[key], depth + 1) ?? textGeneration(key, value);
    if (found) return { conversations: found.conversations, rest: restOf(value, key, found.rest) };
  }
  return undefined;
};

/** Other channels of a state that have messages. */
const listsIn = (value: Fields): string[] => Object.keys(value).filter((key) => hasMessages(value[key]));

/** `{"generations": [[{"text": …}]]}` of a model that returns texts. */
const textGeneration = (key: string, value: Fields): PayloadMessages | undefined => {
  const lists = value[key];
  if (key !== 'generations' || !Array.isArray(lists)) return undefined;
  const texts = lists
    .flat()
    .map((generation: unknown) => (isObject(generation) ? generation['text'] : undefined))
    .filter((text) => typeof text === 'string' && text !== '');
  const messages = texts.map((text) => readMessage({ type: 'ai', content: text }));
  const known = messages.filter((message) => message !== undefined);
  return known.length === 0
    ? undefined
    : { conversations: known.map((message) => [message]), rest: undefined };
};

/** The other entries of an object, without those that the message of a generation repeats, and its position. */
const restOf = (value: Fields, key: string, inner: unknown): unknown => {
  const repeats = key === 'message' ? ['text', 'index'] : [];
  const others = Object.entries(value).filter(
    ([name, entry]) => name !== key && !repeats.includes(name) && entry !== null && entry !== undefined,
  );
  const kept = inner === undefined ? others : [...others, [key, inner] as const];
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
};

const toMessage = (value: unknown): Message | undefined => {
  const message = readMessage(plainMessage(value));
  return message && isBlank(message) ? { ...message, kind: 'other', raw: value as object } : message;
};

/** An element of a list of messages that is none. */
const oddMessage = (value: unknown): Message =>
  jsonMessage(typeof value === 'object' && value !== null ? value : { value });

/** An id identifies the first message that has it: a tracer may send a message twice. */
const withOwnIds = (messages: readonly Message[]): Message[] => {
  const seen = new Set<string>();
  return messages.map((message) => {
    if (message.id === undefined) return message;
    if (seen.has(message.id)) return { ...message, id: undefined };
    seen.add(message.id);
    return message;
  });
};
