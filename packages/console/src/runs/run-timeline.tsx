// When a run waited and when it executed: waits, attempts and supersteps as bars over one time.
import type { Run, RunTimeline } from '@svc/sdk';
import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { useServerQuery } from '../api/client.tsx';
import { isOpen } from '../api/statuses.ts';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { duration } from '../ui/duration.ts';
import { ErrorNotice, Loaded } from '../ui/states.tsx';
import { timeTitle } from '../ui/time-text.ts';
import { visibleText } from '../ui/visible-text.ts';
import {
  omissions,
  shareText,
  type TimelineRow,
  type TimelineTable,
  toTimelineTable,
} from './timeline-rows.ts';
import './run-timeline.css';

export const RunTimelineTab = ({ run }: { run: Run }): ReactNode => {
  const query = useTimeline(run);
  return (
    <>
      <ErrorNotice error={query.data && query.error} />
      <Loaded query={query}>{(timeline) => <Timeline timeline={timeline} threadId={run.thread_id} />}</Loaded>
    </>
  );
};

const Timeline = ({ timeline, threadId }: { timeline: RunTimeline; threadId: string }): ReactNode => {
  const table = useMemo(() => toTimelineTable(timeline), [timeline]);
  return (
    <section className="panel">
      <DataTable
        label="Timeline"
        className="run-timeline"
        rows={table.rows}
        columns={columnsOf(table, threadId)}
        keyOf={({ key }) => key}
      />
      {omissions(timeline).map((sentence) => (
        <p key={sentence} className="muted pad">
          {sentence}
        </p>
      ))}
    </section>
  );
};

const columnsOf = (table: TimelineTable, threadId: string): Column<TimelineRow>[] => {
  const { startMs, endMs } = table;
  return [
    {
      name: 'What',
      title: ({ label, note }) => (note === undefined ? label : `${label}: ${note}`),
      cell: (row) => <What row={row} threadId={threadId} />,
    },
    {
      name: 'After',
      className: 'number run-timeline-after',
      title: ({ fromMs }) => timeTitle(new Date(fromMs).toISOString()),
      cell: ({ fromMs }) => duration(fromMs - startMs),
    },
    {
      name: 'Took',
      className: 'number',
      cell: ({ fromMs, toMs, isOpen }) => (
        <>
          {duration(toMs - fromMs)}
          {isOpen && <span className="muted"> so far</span>}
        </>
      ),
    },
    {
      name: <span title="Of the whole time of the run">Share</span>,
      className: 'number run-timeline-share',
      cell: (row) => shareText(row, table),
    },
    {
      name: (
        <span className="row">
          <span className="run-timeline-start">0</span>
          <span className="spread">{duration(endMs - startMs)}</span>
        </span>
      ),
      className: 'run-timeline-time',
      cell: (row) => <Bar row={row} table={table} />,
    },
  ];
};

const What = ({
  row: { kind, label, note, runId },
  threadId,
}: {
  row: TimelineRow;
  threadId: string;
}): ReactNode => (
  <>
    <span className="run-timeline-label" data-kind={kind}>
      {visibleText(label)}
    </span>{' '}
    {note !== undefined && <span className="muted">{visibleText(note)}</span>}
    {runId !== undefined && (
      <Link to="/runs/$runId" params={{ runId }} search={{ thread: threadId, tab: 'timeline' }}>
        {runId.slice(0, 8)}
      </Link>
    )}
  </>
);

const Bar = ({
  row: { kind, isFailed, fromMs, toMs },
  table: { startMs, endMs },
}: {
  row: TimelineRow;
  table: TimelineTable;
}): ReactNode => {
  const total = Math.max(1, endMs - startMs);
  return (
    <span
      className="run-timeline-bar"
      data-kind={kind}
      data-failed={isFailed}
      style={{
        left: `min(${((fromMs - startMs) / total) * 100}%, 100% - 2px)`,
        width: `${((toMs - fromMs) / total) * 100}%`,
      }}
    />
  );
};

/** How often it is read again while the run is open. */
const pollMs = 2_000;

export const useTimeline = (run: Run): UseQueryResult<RunTimeline> =>
  useServerQuery({
    queryKey: ['run', run.thread_id, run.run_id, 'timeline', run.updated_at],
    read: (client, call) => client.runs.timeline(run.thread_id, run.run_id, call),
    // After a change of the run, its earlier timeline stays until the new one is read. Another run starts empty.
    placeholderData: (previous) => (previous?.run_id === run.run_id ? previous : undefined),
    refetchInterval: isOpen(run.status) ? pollMs : false,
  });
