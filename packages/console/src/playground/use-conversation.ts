// The thread of a column: its state, the run that streams into it, and what a person can do with it.
import type { Assistant, Run, RunOptions, ThreadState } from '@svc/sdk';
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { useServerQuery } from '../api/client.tsx';
import { useRun, useStateAt, useThreadState } from '../api/queries.ts';
import { isOpen } from '../api/statuses.ts';
import { type Question, questionsOf } from '../interrupts/read-interrupt.ts';
import type { NodeActivity } from '../messages/fold-run.ts';
import { isObject, type Message, readMessages } from '../messages/read-messages.ts';
import type { ColumnAddress } from './column-address.ts';
import { type ConversationActions, useConversationActions } from './conversation-actions.ts';
import { mergeMessages, messagesIn, type Sent, withInputs } from './merge-messages.ts';
import { nodesOfTimeline, withWaiting } from './run-nodes.ts';
import { useShownThread } from './shown-thread.ts';
import { useFollowedRun } from './use-followed-run.ts';
import type { RunStream, RunTimes } from './use-run-stream.ts';
import { useSent } from './use-sent.ts';

export interface Conversation extends ConversationActions {
  threadId: string | undefined;
  messages: Message[];
  /** The newest state of the thread. */
  state: ThreadState | undefined;
  /** Of the state that `messages` begin with. */
  values: unknown;
  isLoading: boolean;
  isRunning: boolean;
  /** A run streams or is about to start: no other one can be started. */
  isBusy: boolean;
  /** The run of the address, or the newest one of the thread. */
  run: Run | undefined;
  activity: ReadonlyMap<string, NodeActivity>;
  /** The activity is that of a run that this page has not seen. */
  isRestored: boolean;
  /** Undefined where this page has not seen the run. */
  times: RunTimes | undefined;
  questions: Question[];
  /** Nodes before which the thread has stopped without a question. */
  stoppedBefore: string[];
  error: Error | undefined;
  /** Sends into the run that executes. Resolves with false when the server refuses it. */
  sendInto: (input: Record<string, unknown>) => Promise<boolean>;
  isFork: boolean;
  /** `run` started at a checkpoint. */
  startsAtCheckpoint: boolean;
}

export const useConversation = (
  assistant: Assistant,
  settings: RunOptions,
  address: ColumnAddress,
): Conversation => {
  const { threadId } = address;
  const { sent, setSent, inputs, ...sending } = useSent(address);
  const [failure, setFailure] = useState<Error>();
  const [isFork, setFork] = useState(false);
  const [isStarting, setStarting] = useState(false);
  const state = useThreadState(threadId);
  const newestId = useNewestRunId(address.runId === undefined ? threadId : undefined);
  const runId = address.runId ?? newestId;
  const run = useRun(threadId, runId);
  const stream = useFollowedRun(run.data, { onCreated: address.setRun, onRead: sending.onEnded });
  const { isRunning, view } = stream;
  const shown = useShownThread({
    assistantId: assistant.assistant_id,
    threadId,
    clear: () => {
      stream.reset();
      sending.clear();
      setFailure(undefined);
      setFork(false);
      setStarting(false);
    },
  });

  // A run that another page has started at a checkpoint: until it ends, the newest state may be that of another branch.
  const runStart = useMemo(() => run.data && startOf(run.data), [run.data]);
  const joined = isRunning && sent === undefined ? runStart : undefined;
  const base = useStateAt(threadId, joined?.checkpointId);
  const values = (joined === undefined ? state : base).data?.values;
  const stored = useMemo(() => readMessages(values), [values]);
  const messages = useMemo(
    () =>
      isRunning ? mergeMessages(stored, sent ?? joined?.sent, withInputs(view.messages, inputs)) : stored,
    [stored, sent, inputs, joined, isRunning, view.messages],
  );
  const questions = isRunning || !state.data ? [] : questionsOf(state.data);
  const actions = useConversationActions({
    assistant,
    settings,
    stream,
    state: state.data,
    address: { ...address, runId },
    shown,
    setStarting,
    setSent: (next) => {
      setSent(next);
      if (next?.cutId !== undefined) setFork(true);
    },
    fail: setFailure,
  });
  return {
    threadId,
    messages,
    state: state.data,
    values,
    isLoading: threadId !== undefined && (state.isPending || (joined !== undefined && base.isPending)),
    isRunning,
    isBusy: isRunning || isStarting,
    run: run.data,
    ...useActivity({ stream, run: run.data, runId, state: state.data, questions }),
    questions,
    stoppedBefore: questions.length > 0 || isRunning ? [] : (state.data?.next ?? []),
    error:
      failure ??
      stream.error ??
      runError(view.error, run.data) ??
      (state.data ? undefined : (state.error ?? undefined)),
    isFork,
    startsAtCheckpoint: runStart !== undefined,
    sendInto: (input) => sending.sendInto(runId, input, { isShown: shown.watch(), fail: setFailure }),
    ...actions,
  };
};

/** Which nodes the run has executed, and how fast: from its stream, or restored when that is gone. */
const useActivity = ({
  stream: { isRunning, view, times, error },
  run,
  runId,
  state,
  questions,
}: {
  stream: RunStream;
  run: Run | undefined;
  runId: string | undefined;
  state: ThreadState | undefined;
  questions: readonly Question[];
}): Pick<Conversation, 'activity' | 'isRestored' | 'times'> => {
  const queries = useQueryClient();
  const { nodes, runId: streamedId } = view;
  const isStreamed = isRunning || (streamedId !== undefined && streamedId === runId);
  const ended = useEndedRun(isStreamed ? undefined : run);
  useEffect(() => {
    if (isRunning || streamedId === undefined || error !== undefined) return;
    keepEnded(queries, streamedId, { nodes, times });
  }, [queries, isRunning, streamedId, error, nodes, times]);
  if (isStreamed || ended === undefined) return { activity: nodes, isRestored: false, times };
  const isNewest = state?.metadata?.['run_id'] === runId;
  const waiting = isNewest ? questions.map(({ node }) => node) : [];
  return {
    activity: withWaiting(ended.nodes, waiting),
    isRestored: true,
    times: ended.times,
  };
};

/** The error of the run that has just failed, or of the run that the column shows. */
const runError = (streamed: string | undefined, run: Run | undefined): Error | undefined => {
  if (streamed !== undefined) return new Error(streamed);
  return run?.error === undefined ? undefined : new Error(`${run.error.error}: ${run.error.message}`);
};

/**
 * The run that a column shows when the address names only a thread: the running one, for which later runs wait, or else the newest.
 * Undefined while it is not known, and for a thread without runs.
 */
const useNewestRunId = (threadId: string | undefined): string | undefined => {
  const { data } = useServerQuery({
    queryKey: ['thread', threadId, 'newest-run'],
    read: async (client, call) => {
      const newest = (status?: 'running') =>
        client.runs.list(threadId ?? '', { limit: 1, ...call, ...(status === undefined ? {} : { status }) });
      const [[running], [last]] = await Promise.all([newest('running'), newest()]);
      return (running ?? last)?.run_id ?? null;
    },
    enabled: threadId !== undefined,
  });
  return data ?? undefined;
};

/** Where a run has started, when it is not at the newest checkpoint of its thread. */
interface RunStart {
  checkpointId: string;
  /** The input of the run, which the state at the checkpoint lacks. */
  sent: Sent;
}

/** Undefined for a run that started at the newest checkpoint. */
export const startOf = ({ kwargs }: Pick<Run, 'kwargs'>): RunStart | undefined => {
  const { checkpoint, input } = kwargs as Record<string, unknown>;
  const id = isObject(checkpoint) ? checkpoint['checkpoint_id'] : undefined;
  if (typeof id !== 'string') return undefined;
  return { checkpointId: id, sent: { messages: messagesIn(input), cutId: undefined } };
};

// The nodes and times of a run that has ended: kept at the end of its stream, or read from its timeline after a reload.
interface EndedRun {
  nodes: ReadonlyMap<string, NodeActivity>;
  /** Undefined where this page has not seen the run. */
  times: RunTimes | undefined;
}

const keyOf = (runId: string | undefined) => ['playground', 'ended', runId];

/** The page shows the same run at once when the person returns to it. */
const keepEnded = (queries: QueryClient, runId: string, ended: EndedRun): void => {
  queries.setQueryData(keyOf(runId), ended);
};

const useEndedRun = (run: Run | undefined): EndedRun | undefined => {
  const ended = run === undefined || isOpen(run.status) ? undefined : run;
  const query = useServerQuery({
    queryKey: keyOf(ended?.run_id),
    read: async (client, call): Promise<EndedRun> => {
      const timeline = await client.runs.timeline(ended?.thread_id ?? '', ended?.run_id ?? '', call);
      return { nodes: nodesOfTimeline(timeline), times: undefined };
    },
    enabled: ended !== undefined,
    // The timeline of an ended run never changes.
    staleTime: Infinity,
  });
  return query.data;
};
