// The conversation while a run streams: what the thread has, what was just sent, and what the run has written so far.
import { isObject, readMessage, type Message } from '../messages/read-messages.ts';

export interface Sent {
  /** Raw messages of the input, which the state does not have yet. */
  messages: Record<string, unknown>[];
  /** The message that a fork replaces: it and those after it belong to the earlier branch. */
  cutId: string | undefined;
}

/** What was sent into the run that executes. */
export interface SentInput {
  /** The run that holds the input. */
  runId: string;
  messages: Record<string, unknown>[];
}

/** The messages of the stream, and below them those that the run has not taken yet. */
export const withInputs = (
  streamed: ReadonlyMap<string, Record<string, unknown>>,
  inputs: readonly SentInput[],
): ReadonlyMap<string, Record<string, unknown>> => {
  const all = new Map(streamed);
  for (const message of inputs.flatMap(({ messages }) => messages)) {
    const id = String(message['id']);
    if (!all.has(id)) all.set(id, message);
  }
  return all;
};

/** The messages of an input, which has them in one of its lists. */
export const messagesIn = (input: unknown): Sent['messages'] =>
  isObject(input)
    ? Object.values(input).flatMap((value) => (Array.isArray(value) ? value.filter(isObject) : []))
    : [];

export const mergeMessages = (
  stored: readonly Message[],
  sent: Sent | undefined,
  streamed: ReadonlyMap<string, Record<string, unknown>>,
): Message[] => {
  const cut = sent?.cutId === undefined ? -1 : stored.findIndex(({ id }) => id === sent.cutId);
  const merged = cut === -1 ? [...stored] : stored.slice(0, cut);
  const positions = new Map(merged.map(({ id }, index) => [id, index]));
  for (const raw of [...(sent?.messages ?? []), ...streamed.values()]) {
    const message = readMessage(raw);
    if (!message) continue;
    const at = message.id === undefined ? undefined : positions.get(message.id);
    if (at !== undefined) merged[at] = message;
    else {
      positions.set(message.id, merged.length);
      merged.push(message);
    }
  }
  return merged;
};
