// Where the address of the page keeps the thread and the run of a column.
import { getRouteApi } from '@tanstack/react-router';
import type { Side } from './compared-search.ts';

const route = getRouteApi('/playground');

export interface ColumnAddress {
  threadId: string | undefined;
  runId: string | undefined;
  setThread: (id: string) => void;
  setRun: (id: string) => void;
}

export const useColumnAddress = (side: Side): ColumnAddress => {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const isComparison = search.compare !== undefined;
  if (side === 'left')
    return {
      threadId: search.thread,
      runId: search.run,
      // Two threads that one message creates are no two steps back.
      setThread: (thread) => void navigate({ search: (now) => ({ ...now, thread }), replace: isComparison }),
      setRun: (run) => void navigate({ search: (now) => ({ ...now, run }), replace: true }),
    };
  return {
    threadId: isComparison ? search.compareThread : undefined,
    runId: isComparison ? search.compareRun : undefined,
    setThread: (compareThread) =>
      void navigate({ search: (now) => ({ ...now, compareThread }), replace: true }),
    setRun: (compareRun) => void navigate({ search: (now) => ({ ...now, compareRun }), replace: true }),
  };
};
