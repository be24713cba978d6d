// When a run waited and when it executed: waits, attempts and supersteps as bars over one time.
import { Link } from '@tanstack/react-router';
import type { Run, RunTimeline } from '@svc/sdk';
import { useMemo, type ReactNode } from 'react';
import { duration } from '../ui/duration.ts';
import { ErrorNotice, Loaded } from '../ui/states.tsx';
import { timeTitle } from '../ui/time-text.ts';
import { visibleText } from '../values/visible-text.ts';
import { useTimeline } from './timeline-query.ts';
import {
  omissions,
  shareText,
  toTimelineTable,
  type TimelineRow,
  type TimelineTable,
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
      <table className="table run-timeline" aria-label="Timeline">
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col" className="number run-timeline-after">
              After
            </th>
            <th scope="col" className="number">
              Took
            </th>
            <th scope="col" className="number run-timeline-share" title="Of the whole time of the run">
              Share
            </th>
            <th scope="col" className="run-timeline-time">
              <span className="row">
                <span className="run-timeline-start">0</span>
                <span className="spread">{duration(table.endMs - table.startMs)}</span>
              </span>
            </th>
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row) => (
            <TimelineRowView key={row.key} row={row} table={table} threadId={threadId} />
          ))}
        </tbody>
      </table>
      {omissions(timeline).map((sentence) => (
        <p key={sentence} className="muted pad">
          {sentence}
        </p>
      ))}
    </section>
  );
};

const TimelineRowView = ({
  row,
  table,
  threadId,
}: {
  row: TimelineRow;
  table: TimelineTable;
  threadId: string;
}): ReactNode => {
  const { kind, label, note, isFailed, runId, fromMs, toMs, isOpen: goesOn } = row;
  const { startMs, endMs } = table;
  const total = Math.max(1, endMs - startMs);
  return (
    <tr data-kind={kind}>
      <td title={note === undefined ? label : `${label}: ${note}`}>
        <span className="run-timeline-label">{visibleText(label)}</span>{' '}
        {note !== undefined && <span className="muted">{visibleText(note)}</span>}
        {runId !== undefined && (
          <Link to="/runs/$runId" params={{ runId }} search={{ thread: threadId, tab: 'timeline' }}>
            {runId.slice(0, 8)}
          </Link>
        )}
      </td>
      <td className="number run-timeline-after" title={timeTitle(new Date(fromMs).toISOString())}>
        {duration(fromMs - startMs)}
      </td>
      <td className="number">
        {duration(toMs - fromMs)}
        {goesOn && <span className="muted"> so far</span>}
      </td>
      <td className="number run-timeline-share">{shareText(row, table)}</td>
      <td className="run-timeline-time">
        <span
          className="run-timeline-bar"
          data-kind={kind}
          data-failed={isFailed}
          style={{
            left: `min(${((fromMs - startMs) / total) * 100}%, 100% - 2px)`,
            width: `${((toMs - fromMs) / total) * 100}%`,
          }}
        />
      </td>
    </tr>
  );
};
