// The thread of the playground: its state, the run that streams into it, and what a person can do with it.
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Assistant, Run, RunOptions, ThreadState } from '@svc/sdk';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useClient } from '../api/client.tsx';
import { useRun, useStateAt, useThreadState } from '../api/queries.ts';
import { refreshChanged } from '../api/refresh.ts';
import { isOpen } from '../api/statuses.ts';
import { questionsOf, resumeOf, type Question } from '../interrupts/read-interrupt.ts';
import type { NodeActivity } from '../messages/fold-run.ts';
import { messagesKey, readMessages, type Message } from '../messages/read-messages.ts';
import { findForkPoint } from './fork.ts';
import { mergeMessages, messagesIn, type Sent } from './merge-messages.ts';
import { startOf } from './run-start.ts';
import { useRunStream, type RunStream } from './use-run-stream.ts';

const route = getRouteApi('/playground');

export interface Conversation {
  messages: Message[];
  state: ThreadState | undefined;
  isLoading: boolean;
  isRunning: boolean;
  run: Run | undefined;
  activity: ReadonlyMap<string, NodeActivity>;
  questions: Question[];
  /** Nodes before which the thread has stopped without a question. */
  stoppedBefore: string[];
  error: Error | undefined;
  isFork: boolean;
  /** The run of the address started at a checkpoint. */
  startsAtCheckpoint: boolean;
  send: (input: Record<string, unknown>) => Promise<void>;
  answer: (question: Question, answer: unknown) => Promise<void>;
  resume: () => Promise<void>;
  edit: (message: Message, text: string) => Promise<void>;
  stop: () => Promise<void>;
  clear: () => void;
}

export const useConversation = (assistant: Assistant, settings: RunOptions): Conversation => {
  const { thread: threadId, run: runId } = route.useSearch();
  const [sent, setSent] = useState<Sent>();
  const [failure, setFailure] = useState<Error>();
  const [isFork, setFork] = useState(false);
  const state = useThreadState(threadId);
  const run = useRun(threadId, runId);
  const stream = useStream(run.data, () => setSent(undefined));
  const { isRunning, view } = stream;

  // A run that another page has started at a checkpoint: until it ends, the newest state may be that of another branch.
  const runStart = useMemo(() => run.data && startOf(run.data), [run.data]);
  const joined = isRunning && sent === undefined ? runStart : undefined;
  const base = useStateAt(threadId, joined?.checkpointId);
  const stored = useMemo(() => readMessages((base.data ?? state.data)?.values), [base.data, state.data]);
  const messages = useMemo(
    () => (isRunning ? mergeMessages(stored, sent ?? joined?.sent, view.messages) : stored),
    [stored, sent, joined, isRunning, view.messages],
  );
  const questions = isRunning || !state.data ? [] : questionsOf(state.data);
  const actions = useActions({
    assistant,
    settings,
    stream,
    state: state.data,
    begin: (next) => {
      setFailure(undefined);
      setSent(next);
      if (next?.cutId !== undefined) setFork(true);
    },
    fail: setFailure,
  });
  return {
    messages,
    state: state.data,
    isLoading: threadId !== undefined && state.isPending,
    isRunning,
    run: run.data,
    activity: view.nodes,
    questions,
    stoppedBefore: questions.length > 0 || isRunning ? [] : (state.data?.next ?? []),
    error:
      failure ??
      stream.error ??
      runError(view.error, run.data) ??
      (state.data ? undefined : (state.error ?? undefined)),
    isFork,
    startsAtCheckpoint: runStart !== undefined,
    ...actions,
    clear: () => {
      stream.reset();
      setSent(undefined);
      setFailure(undefined);
      setFork(false);
    },
  };
};

/** The stream of the run in the address. It is joined when this page has not started it, as after a reload. */
const useStream = (run: Run | undefined, onRead: () => void): RunStream => {
  const queries = useQueryClient();
  const navigate = route.useNavigate();
  const followed = useRef<string>(undefined);
  const stream = useRunStream({
    onCreated: (id) => {
      followed.current = id;
      void navigate({ search: (search) => ({ ...search, run: id }), replace: true });
    },
    onEnded: async () => {
      await refreshChanged(queries);
      onRead();
    },
  });
  const { join } = stream;
  useEffect(() => {
    if (run === undefined || followed.current === run.run_id || !isOpen(run.status)) return;
    followed.current = run.run_id;
    void join(run.thread_id, run.run_id);
  }, [run, join]);
  return stream;
};

interface Context {
  assistant: Assistant;
  settings: RunOptions;
  stream: RunStream;
  state: ThreadState | undefined;
  begin: (sent: Sent | undefined) => void;
  fail: (error: Error) => void;
}

const useActions = ({ assistant, settings, stream, state, begin, fail }: Context) => {
  const client = useClient();
  const navigate = route.useNavigate();
  const { thread: threadId, run: runId } = route.useSearch();
  const reported = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      fail(error as Error);
    }
  };
  const start = (options: RunOptions, sent?: Sent): Promise<void> =>
    reported(async () => {
      begin(sent);
      const id = threadId ?? (await client.threads.create({ graphId: assistant.graph_id })).thread_id;
      // The run does not wait until the page has the new address.
      if (threadId === undefined) void navigate({ search: (search) => ({ ...search, thread: id }) });
      const assistantId = assistant.assistant_id;
      await stream.start({ threadId: id, assistantId, options: { ...settings, ...options } });
    });
  return {
    send: (input: Record<string, unknown>) => {
      const sent = { messages: messagesIn(input), cutId: undefined };
      return start({ input: input as RunOptions['input'] }, sent);
    },
    answer: (question: Question, answer: unknown) =>
      start({ command: { resume: resumeOf(question, answer) } as RunOptions['command'] }),
    resume: () => start({ input: null }),
    edit: (message: Message, text: string) =>
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

/** The error of the run that has just failed, or of the run that the address names. */
const runError = (streamed: string | undefined, run: Run | undefined): Error | undefined => {
  if (streamed !== undefined) return new Error(streamed);
  return run?.error === undefined ? undefined : new Error(`${run.error.error}: ${run.error.message}`);
};
