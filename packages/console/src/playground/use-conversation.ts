// The thread of a column: its state, the run that streams into it, and what a person can do with it.
import type { Assistant, Run, RunOptions, ThreadState } from '@svc/sdk';
import { useMemo, useState } from 'react';
import { useRun, useStateAt, useThreadState } from '../api/queries.ts';
import { questionsOf, type Question } from '../interrupts/read-interrupt.ts';
import type { NodeActivity } from '../messages/fold-run.ts';
import { readMessages, type Message } from '../messages/read-messages.ts';
import type { ColumnAddress } from './column-address.ts';
import { useConversationActions, type ConversationActions } from './conversation-actions.ts';
import { mergeMessages, type Sent } from './merge-messages.ts';
import { startOf } from './run-start.ts';
import { useShownThread } from './shown-thread.ts';
import { useFollowedRun } from './use-followed-run.ts';
import type { RunTimes } from './use-run-stream.ts';

export interface Conversation extends ConversationActions {
  threadId: string | undefined;
  messages: Message[];
  state: ThreadState | undefined;
  isLoading: boolean;
  isRunning: boolean;
  run: Run | undefined;
  activity: ReadonlyMap<string, NodeActivity>;
  times: RunTimes;
  questions: Question[];
  /** Nodes before which the thread has stopped without a question. */
  stoppedBefore: string[];
  error: Error | undefined;
  isFork: boolean;
  /** The run of the address started at a checkpoint. */
  startsAtCheckpoint: boolean;
}

export const useConversation = (
  assistant: Assistant,
  settings: RunOptions,
  address: ColumnAddress,
): Conversation => {
  const { threadId, runId } = address;
  const [sent, setSent] = useState<Sent>();
  const [failure, setFailure] = useState<Error>();
  const [isFork, setFork] = useState(false);
  const state = useThreadState(threadId);
  const run = useRun(threadId, runId);
  const stream = useFollowedRun(run.data, { onCreated: address.setRun, onRead: () => setSent(undefined) });
  const { isRunning, view } = stream;
  const shown = useShownThread({
    assistantId: assistant.assistant_id,
    threadId,
    clear: () => {
      stream.reset();
      setSent(undefined);
      setFailure(undefined);
      setFork(false);
    },
  });

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
  const actions = useConversationActions({
    assistant,
    settings,
    stream,
    state: state.data,
    address,
    shown,
    begin: (next) => {
      setFailure(undefined);
      setSent(next);
      if (next?.cutId !== undefined) setFork(true);
    },
    fail: setFailure,
  });
  return {
    threadId,
    messages,
    state: state.data,
    isLoading: threadId !== undefined && state.isPending,
    isRunning,
    run: run.data,
    activity: view.nodes,
    times: stream.times,
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
  };
};

/** The error of the run that has just failed, or of the run that the address names. */
const runError = (streamed: string | undefined, run: Run | undefined): Error | undefined => {
  if (streamed !== undefined) return new Error(streamed);
  return run?.error === undefined ? undefined : new Error(`${run.error.error}: ${run.error.message}`);
};
