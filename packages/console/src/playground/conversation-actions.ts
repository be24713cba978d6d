// What a person can do in a conversation: send, answer, continue, edit and stop.
import type { Assistant, RunOptions, ThreadState } from '@svc/sdk';
import { useClient } from '../api/client.tsx';
import { resumeOf, type Question } from '../interrupts/read-interrupt.ts';
import { messagesKey, type Message } from '../messages/read-messages.ts';
import type { ColumnAddress } from './column-address.ts';
import { findForkPoint } from './fork.ts';
import { messagesIn, type Sent } from './merge-messages.ts';
import type { ShownThread } from './shown-thread.ts';
import type { RunStream } from './use-run-stream.ts';

export interface ConversationActions {
  send: (input: Record<string, unknown>) => Promise<void>;
  answer: (question: Question, answer: unknown) => Promise<void>;
  resume: () => Promise<void>;
  edit: (message: Message, text: string) => Promise<void>;
  stop: () => Promise<void>;
}

interface Context {
  assistant: Assistant;
  settings: RunOptions;
  stream: RunStream;
  state: ThreadState | undefined;
  address: ColumnAddress;
  shown: ShownThread;
  begin: (sent: Sent | undefined) => void;
  fail: (error: Error) => void;
}

export const useConversationActions = ({
  assistant,
  settings,
  stream,
  state,
  address,
  shown,
  begin,
  fail,
}: Context): ConversationActions => {
  const client = useClient();
  const { threadId, runId } = address;
  const reported = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      fail(error as Error);
    }
  };
  const newThread = async (): Promise<string | undefined> => {
    const { thread_id: id } = await client.threads.create({ graphId: assistant.graph_id });
    // Meanwhile the person has chosen another assistant or thread.
    if (!shown.isSame()) return undefined;
    shown.created(id);
    // The run does not wait until the page has the new address.
    address.setThread(id);
    return id;
  };
  const start = (options: RunOptions, sent?: Sent): Promise<void> =>
    reported(async () => {
      begin(sent);
      const id = threadId ?? (await newThread());
      if (id === undefined) return;
      const assistantId = assistant.assistant_id;
      await stream.start({ threadId: id, assistantId, options: { ...settings, ...options } });
    });
  return {
    send: (input) => {
      const sent = { messages: messagesIn(input), cutId: undefined };
      return start({ input: input as RunOptions['input'] }, sent);
    },
    answer: (question, answer) =>
      start({ command: { resume: resumeOf(question, answer) } as RunOptions['command'] }),
    resume: () => start({ input: null }),
    edit: (message, text) =>
      reported(async () => {
        const channel = messagesKey(state?.values);
        const head = state?.checkpoint_id;
        if (threadId === undefined || channel === undefined || message.id === undefined || !head) return;
        const from = await findForkPoint(client, threadId, head, { channel, messageId: message.id });
        const edited = { ...message.raw, id: crypto.randomUUID(), content: text };
        await start(
          { input: { [channel]: [edited] }, checkpoint_id: from },
          { messages: [edited], cutId: message.id },
        );
      }),
    stop: () =>
      reported(async () => {
        if (threadId !== undefined && runId !== undefined) await client.runs.cancel(threadId, runId);
      }),
  };
};
