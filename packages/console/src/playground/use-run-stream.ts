// One run at a time, as a stream: started here, or joined after the page was loaded again. Leaving the page does not stop the run.
import type { RunOptions, RunStreamEvent } from '@svc/sdk';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useClient } from '../api/client.tsx';
import { streamModes } from '../interrupts/use-answer.ts';
import { emptyView, endView, foldEvent, type RunView } from '../messages/fold-run.ts';

export interface NewRun {
  threadId: string;
  assistantId: string;
  options: RunOptions;
}

/** From the request on. Unknown for a run that was joined: its events were recorded earlier. */
export interface RunTimes {
  firstTokenMs: number | undefined;
  tookMs: number | undefined;
}

export interface RunStream {
  view: RunView;
  isRunning: boolean;
  times: RunTimes;
  /** The request or the connection has failed; a run that fails has its error in the view. */
  error: Error | undefined;
  /** Resolves with true at the end, or with false when the request fails before the server has named the run. */
  start: (run: NewRun) => Promise<boolean>;
  /** Follows a run from its first event that is kept. */
  join: (threadId: string, runId: string) => Promise<void>;
  reset: () => void;
}

type Open = (signal: AbortSignal) => AsyncIterable<RunStreamEvent>;

/** How long events are collected before the page is drawn again. */
const drawMs = 30;

interface RunStreamEvents {
  onCreated: (runId: string) => void;
  /** The run of this thread has ended: reads what it has changed. */
  onEnded: (threadId: string) => Promise<void>;
  /** `onEnded()` is done, and there was no `reset()` and no other run meanwhile. */
  onRead: () => void;
}

export const useRunStream = ({ onCreated, onEnded, onRead }: RunStreamEvents): RunStream => {
  const client = useClient();
  const [view, setView] = useState<RunView>(emptyView);
  const [isRunning, setRunning] = useState(false);
  const [startedMs, setStarted] = useState<number>();
  const [error, setError] = useState<Error>();
  const current = useRef<AbortController>(undefined);
  const callbacks = useRef({ onCreated, onEnded, onRead });
  callbacks.current = { onCreated, onEnded, onRead };

  /** `onFailed`: the connection or the request has failed. */
  const follow = useCallback(async (threadId: string, open: Open, onFailed?: () => void) => {
    current.current?.abort();
    const controller = new AbortController();
    current.current = controller;
    const isCurrent = (): boolean => current.current === controller;
    setRunning(true);
    setError(undefined);
    setView(emptyView);
    try {
      await foldAll(open(controller.signal), (change) => isCurrent() && setView(change));
    } catch (failure) {
      if (isCurrent() && !controller.signal.aborted) {
        setError(failure as Error);
        onFailed?.();
      }
    }
    if (!isCurrent() || controller.signal.aborted) return;
    setView((last) => endView(last, performance.now()));
    await callbacks.current.onEnded(threadId);
    if (!isCurrent()) return;
    setRunning(false);
    callbacks.current.onRead();
  }, []);

  const start = useCallback(
    ({ threadId, assistantId, options }: NewRun) => {
      setStarted(performance.now());
      let isCreated = false;
      const created = (runId: string): void => {
        isCreated = true;
        callbacks.current.onCreated(runId);
      };
      const streamed: RunOptions = {
        ...options,
        stream_mode: [...streamModes],
        stream_resumable: true,
        on_disconnect: 'continue',
      };
      const open: Open = (signal) =>
        client.runs.stream(threadId, assistantId, streamed, {
          signal,
          idempotencyKey: crypto.randomUUID(),
          onRunCreated: ({ runId }) => created(runId),
        });
      return new Promise<boolean>((resolve) => {
        void follow(threadId, open, () => resolve(isCreated)).then(() => resolve(true));
      });
    },
    [client, follow],
  );
  const join = useCallback(
    (threadId: string, runId: string) => {
      setStarted(undefined);
      return follow(threadId, (signal) =>
        client.runs.joinStream(threadId, runId, { lastEventId: '-1', signal }),
      );
    },
    [client, follow],
  );
  const reset = useCallback(() => {
    current.current?.abort();
    current.current = undefined;
    setRunning(false);
    setError(undefined);
    setView(emptyView);
  }, []);
  useEffect(() => () => current.current?.abort(), []);
  const times = useTimes(view, startedMs);
  return { view, isRunning, times, error, start, join, reset };
};

const useTimes = ({ firstTokenMs, endedMs }: RunView, startedMs: number | undefined): RunTimes =>
  useMemo(() => {
    const since = (ms: number | undefined): number | undefined =>
      startedMs === undefined || ms === undefined ? undefined : ms - startedMs;
    return { firstTokenMs: since(firstTokenMs), tookMs: since(endedMs) };
  }, [startedMs, firstTokenMs, endedMs]);

/** Calls `update` once for all events of a moment. */
const foldAll = async (
  events: AsyncIterable<RunStreamEvent>,
  update: (change: (view: RunView) => RunView) => void,
): Promise<void> => {
  let waiting: { event: RunStreamEvent; atMs: number }[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const batch = waiting;
    waiting = [];
    if (batch.length > 0)
      update((view) => batch.reduce((now, { event, atMs }) => foldEvent(now, event, atMs), view));
  };
  try {
    for await (const event of events) {
      waiting.push({ event, atMs: performance.now() });
      timer ??= setTimeout(flush, drawMs);
    }
  } finally {
    flush();
  }
};
