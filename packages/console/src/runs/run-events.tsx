// The events of a run: those that its log keeps, and new ones as they come.
import type { Run, RunStreamEvent } from '@svc/sdk';
import { useEffect, useState, type ReactNode } from 'react';
import { useClient } from '../api/client.tsx';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { ErrorNotice, Skeleton, State } from '../ui/states.tsx';
import { JsonTree } from '../values/json-tree.tsx';
import { visibleText } from '../ui/visible-text.ts';

const shownMax = 500;

const columns: readonly Column<RunStreamEvent>[] = [
  { name: 'Id', className: 'number mono', cell: ({ id }) => id },
  { name: 'Event', className: 'mono', cell: ({ event }) => visibleText(event) },
  { name: 'Data', className: 'wide', cell: ({ data }) => <JsonTree value={data} openDepth={0} /> },
];

export const RunEvents = ({ run: { thread_id: threadId, run_id: runId } }: { run: Run }): ReactNode => {
  const { events, isOpen, error } = useEvents(threadId, runId);
  if (events.length === 0 && error) return <ErrorNotice error={error} />;
  if (events.length === 0)
    return isOpen ? (
      <Skeleton />
    ) : (
      <State icon="empty" title="No events are kept">
        <p className="muted">
          A run with <code>stream_resumable</code> keeps its events for the time of{' '}
          <code>SVC_STREAM_TTL</code>.
        </p>
      </State>
    );
  return (
    <div className="stack">
      {events.length > shownMax && (
        <p className="muted">
          The newest {shownMax} of {events.length} events.
        </p>
      )}
      <DataTable
        label="Events"
        className="run-events"
        rows={events.slice(-shownMax).map((event, index) => ({ ...event, key: event.id ?? `${index}` }))}
        columns={columns}
        keyOf={({ key }) => key}
      />
      <ErrorNotice error={error} />
    </div>
  );
};

const useEvents = (
  threadId: string,
  runId: string,
): { events: RunStreamEvent[]; isOpen: boolean; error: Error | undefined } => {
  const client = useClient();
  const [events, setEvents] = useState<RunStreamEvent[]>([]);
  const [isOpen, setOpen] = useState(true);
  const [error, setError] = useState<Error>();
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    let waiting: RunStreamEvent[] = [];
    const flush = (): void => {
      const batch = waiting;
      waiting = [];
      if (batch.length > 0 && !signal.aborted) setEvents((earlier) => [...earlier, ...batch]);
    };
    const timer = setInterval(flush, 100);
    setEvents([]);
    setOpen(true);
    const read = async (): Promise<void> => {
      try {
        for await (const event of client.runs.joinStream(threadId, runId, { lastEventId: '-1', signal }))
          waiting.push(event);
      } catch (failure) {
        if (!signal.aborted) setError(failure as Error);
      }
      flush();
      clearInterval(timer);
      if (!signal.aborted) setOpen(false);
    };
    void read();
    return () => {
      controller.abort();
      clearInterval(timer);
    };
  }, [client, threadId, runId]);
  return { events, isOpen, error };
};
