// The stream of the run that a column shows. It is joined when this page has not started it, as after a reload.
import { useQueryClient } from '@tanstack/react-query';
import type { Run } from '@svc/sdk';
import { useEffect, useRef } from 'react';
import { refreshChanged } from '../api/refresh.ts';
import { isOpen } from '../api/statuses.ts';
import { useRunStream, type RunStream } from './use-run-stream.ts';

export const useFollowedRun = (
  run: Run | undefined,
  {
    onCreated,
    onRead,
  }: {
    onCreated: (runId: string) => void;
    /** The state of the thread was read after the end of the run, which is still the one that is followed. */
    onRead: () => void;
  },
): RunStream => {
  const queries = useQueryClient();
  const followed = useRef<string>(undefined);
  // A run that starts is the newest one of its thread, maybe before this page has its id.
  const isStarting = useRef(false);
  const stream = useRunStream({
    onCreated: (id) => {
      isStarting.current = false;
      followed.current = id;
      onCreated(id);
    },
    onEnded: (threadId) => refreshChanged(queries, threadId),
    onRead,
  });
  const { join } = stream;
  useEffect(() => {
    if (isStarting.current || run === undefined) return;
    if (followed.current === run.run_id || !isOpen(run.status)) return;
    followed.current = run.run_id;
    void join(run.thread_id, run.run_id);
  }, [run, join]);
  return {
    ...stream,
    start: async (newRun) => {
      isStarting.current = true;
      try {
        return await stream.start(newRun);
      } finally {
        isStarting.current = false;
      }
    },
    reset: () => {
      isStarting.current = false;
      followed.current = undefined;
      stream.reset();
    },
  };
};
