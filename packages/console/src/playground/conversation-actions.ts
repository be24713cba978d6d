// What a person can do in a conversation: send, answer, continue, edit and stop.
import type { Assistant, Client, RunOptions, ThreadState } from '@svc/sdk';
import { useClient } from '../api/client.tsx';
import { resumeOf, type Question } from '../interrupts/read-interrupt.ts';
import { isObject, messagesKey, type Message } from '../messages/read-messages.ts';
import type { ColumnAddress } from './column-address.ts';
import { messagesIn, type Sent } from './merge-messages.ts';
import type { ShownThread } from './shown-thread.ts';
import type { RunStream } from './use-run-stream.ts';

export interface ConversationActions {
  /** Resolves at the end of the run; with false as soon as the request fails, while its thread is shown. */
  send: (input: Record<string, unknown>) => Promise<boolean>;
  /** This and the next two resolve when the run is requested. */
  answer: (question: Question, answer: unknown) => Promise<unknown>;
  resume: () => Promise<unknown>;
  edit: (message: Message, text: string) => Promise<unknown>;
  /** Sends a message of the person again, from the checkpoint before it. */
  regenerate: (message: Message) => Promise<unknown>;
  stop: () => Promise<void>;
}

interface Context {
  assistant: Assistant;
  settings: RunOptions;
  stream: RunStream;
  state: ThreadState | undefined;
  address: ColumnAddress;
  shown: ShownThread;
  /** From the action until the request of its run is sent, or until the action fails. */
  setStarting: (isStarting: boolean) => void;
  setSent: (sent: Sent | undefined) => void;
  fail: (error: Error | undefined) => void;
}

/** The user has left, or there is nothing to start. */
const none = { isTaken: Promise.resolve(true) };

interface PreparedRun {
  threadId: string;
  options: RunOptions;
  sent: Sent | undefined;
}

export const useConversationActions = ({
  assistant,
  settings,
  stream,
  state,
  address,
  shown,
  setStarting,
  setSent,
  fail,
}: Context): ConversationActions => {
  const client = useClient();
  const { threadId, runId } = address;
  /**
   * `prepare` may wait. No run starts when the column shows another thread or assistant meanwhile. Resolves when the run is requested;
   * `isTaken` at its end, with false when the server has not taken it.
   */
  const start = async (
    prepare: (isShown: () => boolean) => Promise<PreparedRun | undefined>,
  ): Promise<{ isTaken: Promise<boolean> }> => {
    const isShown = shown.watch();
    setStarting(true);
    fail(undefined);
    try {
      const run = await prepare(isShown);
      if (!isShown()) return none;
      setStarting(false);
      if (run === undefined) return none;
      setSent(run.sent);
      const options = { ...settings, ...run.options };
      const { threadId: id } = run;
      return { isTaken: stream.start({ threadId: id, assistantId: assistant.assistant_id, options }) };
    } catch (error) {
      if (!isShown()) return none;
      setStarting(false);
      fail(error as Error);
      return { isTaken: Promise.resolve(false) };
    }
  };
  const newThread = async (isShown: () => boolean): Promise<string | undefined> => {
    const { thread_id: id } = await client.threads.create({ graphId: assistant.graph_id });
    if (!isShown()) return undefined;
    shown.created(id);
    // The run does not wait until the page has the new address.
    address.setThread(id);
    return id;
  };
  const startWith = (options: RunOptions, sent?: Sent): Promise<{ isTaken: Promise<boolean> }> =>
    start(async (isShown) => {
      const id = threadId ?? (await newThread(isShown));
      return id === undefined ? undefined : { threadId: id, options, sent };
    });
  const sendAgain = (message: Message, content: unknown): Promise<unknown> =>
    start(async () => {
      const channel = messagesKey(state?.values);
      const head = state?.checkpoint_id;
      if (threadId === undefined || channel === undefined || message.id === undefined || !head)
        return undefined;
      const from = await findForkPoint(client, threadId, head, { channel, messageId: message.id });
      const again = { ...message.raw, id: crypto.randomUUID(), content };
      const sent = { messages: [again], cutId: message.id };
      return { threadId, options: { input: { [channel]: [again] }, checkpoint_id: from }, sent };
    });
  return {
    send: async (input) => {
      const sent = { messages: messagesIn(input), cutId: undefined };
      const isShown = shown.watch();
      const { isTaken } = await startWith({ input: input as RunOptions['input'] }, sent);
      // The field of another thread does not get the message.
      return (await isTaken) || !isShown();
    },
    answer: (question, answer) =>
      startWith({ command: { resume: resumeOf(question, answer) } as RunOptions['command'] }),
    resume: () => startWith({ input: null }),
    edit: (message, text) => sendAgain(message, editedContent(message.raw, text)),
    regenerate: (message) => sendAgain(message, contentOf(message.raw)),
    stop: async () => {
      const isShown = shown.watch();
      try {
        if (threadId !== undefined && runId !== undefined) await client.runs.cancel(threadId, runId);
      } catch (error) {
        if (isShown()) fail(error as Error);
      }
    },
  };
};

const contentOf = (raw: object): unknown => ('content' in raw ? raw.content : undefined);

/** The images and files of the message stay. */
export const editedContent = (raw: object, text: string): unknown => {
  const content = contentOf(raw);
  if (!Array.isArray(content)) return text;
  const others = content.filter((part: unknown) => !isObject(part) || part['type'] !== 'text');
  return others.length === 0 ? text : [{ type: 'text', text }, ...others];
};

/** A fork looks this far back for the checkpoint before a message. */
const historyMax = 1_000;

type Checkpoint = Pick<ThreadState, 'checkpoint_id' | 'parent_checkpoint_id' | 'values'>;

/**
 * The newest checkpoint on the way to `headId` without the message: a run from it, with the edited message, makes a
 * fork. Undefined when the history that was read does not reach back far enough.
 */
export const forkPoint = (
  history: readonly Checkpoint[],
  headId: string,
  { channel, messageId }: { channel: string; messageId: string },
): string | undefined => {
  const byId = new Map(history.map((checkpoint) => [checkpoint.checkpoint_id, checkpoint]));
  for (let at = byId.get(headId); at !== undefined; at = byId.get(at.parent_checkpoint_id)) {
    const messages = (at.values as Record<string, unknown> | null)?.[channel];
    const has =
      Array.isArray(messages) && messages.some((message) => (message as { id?: unknown }).id === messageId);
    if (!has) return at.checkpoint_id ?? undefined;
  }
  return undefined;
};

/** Reads the history of the thread for `forkPoint()`. Throws when the message is too old. */
const findForkPoint = async (
  client: Client,
  threadId: string,
  headId: string,
  message: { channel: string; messageId: string },
): Promise<string> => {
  const history = await client.threads.getHistory(threadId, {
    limit: historyMax,
    select: ['checkpoint_id', 'parent_checkpoint_id', `values.${message.channel}`],
  });
  const found = forkPoint(history, headId, message);
  if (found === undefined)
    throw new Error(`The message is older than the newest ${historyMax} checkpoints of the thread.`);
  return found;
};
