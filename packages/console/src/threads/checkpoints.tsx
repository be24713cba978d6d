// The checkpoints of a thread as a tree, with the selected one beside it.
import type { Thread } from '@svc/sdk';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { useClient, useServerQuery } from '../api/client.tsx';
import { usePagedQuery } from '../api/paged-query.ts';
import { LoadOlder } from '../ui/paging.tsx';
import { ErrorNotice, Failure, Skeleton, State } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import {
  type CheckpointRow,
  failedRows,
  nameOf,
  nodeLabel,
  rowFields,
  runOfInput,
  stepOf,
} from './checkpoint-row.ts';
import { SelectedCheckpoint } from './selected-checkpoint.tsx';
import './checkpoints.css';

const route = getRouteApi('/threads/$threadId');
const pageSize = 100;

export const Checkpoints = ({ thread }: { thread: Thread }): ReactNode => {
  const client = useClient();
  const { thread_id: threadId } = thread;
  const { checkpoint: chosen } = route.useSearch();
  const query = usePagedQuery({
    queryKey: ['thread', threadId, 'checkpoints'],
    read: (before, call) =>
      client.threads.getHistory(threadId, { limit: pageSize, before, select: [...rowFields] }, call),
    next: (page) => (page.length < pageSize ? undefined : page.at(-1)?.checkpoint_id),
  });
  const { data: failedRuns = [] } = useServerQuery({
    // A change of a run of the thread reads everything below this key again.
    queryKey: ['thread', threadId, 'failed-runs'],
    read: (api, call) =>
      api.runs.search(
        { thread_id: threadId, status: ['error', 'timeout'], limit: pageSize, select: ['run_id'] },
        call,
      ),
  });
  if (query.data === undefined)
    return query.error ? <Failure error={query.error} onRetry={() => void query.refetch()} /> : <Skeleton />;
  const rows: CheckpointRow[] = query.data.pages.flat();
  const byId = new Map(rows.map((row) => [row.checkpoint_id, row]));
  const names = new Map(rows.map((row) => [row, nameOf(row, byId.get(row.parent_checkpoint_id))]));
  const failed = failedRows(rows, failedRuns);
  const [newest] = rows;
  if (!newest)
    return (
      <State icon="empty" title="The thread has no checkpoints">
        <p className="muted">Each step of a run makes one.</p>
      </State>
    );
  const selectedId = chosen ?? newest.checkpoint_id ?? '';
  return (
    <div className="split">
      <nav className="split-list checkpoint-list" aria-label="Checkpoints, newest first" tabIndex={0}>
        <ErrorNotice error={query.error} />
        <CheckpointTree rows={rows} names={names} failed={failed} selected={byId.get(selectedId)} />
        <LoadOlder query={query} label="Load older" />
      </nav>
      <SelectedCheckpoint thread={thread} checkpointId={selectedId} rows={byId} />
    </div>
  );
};

const CheckpointTree = ({
  rows,
  names,
  failed,
  selected,
}: {
  rows: readonly CheckpointRow[];
  names: ReadonlyMap<CheckpointRow, string>;
  failed: ReadonlySet<CheckpointRow>;
  selected: CheckpointRow | undefined;
}): ReactNode => {
  const lanes = useMemo(() => layLanes(rows), [rows]);
  const columns = Math.max(...lanes.map(({ lines }) => Math.max(...lines))) + 1;
  return (
    <ol>
      {rows.map((row, index) => (
        <li key={row.checkpoint_id}>
          <Link
            from="/threads/$threadId"
            to="."
            search={(search) => ({ ...search, checkpoint: row.checkpoint_id ?? undefined })}
            replace
            data-row
            className="checkpoint"
            aria-current={row === selected ? 'step' : undefined}
          >
            <LaneCell lane={lanes[index]} columns={columns} isLast={index === rows.length - 1} />
            <span className="checkpoint-step">{stepOf(row)}</span>
            <span className="checkpoint-name">
              {names.get(row)} <InputRun runId={runOfInput(row)} />
            </span>
            {row.interrupts.length > 0 && (
              <span className="badge" data-tone="amber">
                asks
              </span>
            )}
            {failed.has(row) && (
              <span
                className="badge"
                data-tone="red"
                title="The run stopped in the step after this checkpoint"
              >
                {row.next.map(nodeLabel).join(', ')} failed
              </span>
            )}
            <span className="muted">{row.created_at !== null && <Ago at={row.created_at} />}</span>
          </Link>
        </li>
      ))}
    </ol>
  );
};

const InputRun = ({ runId }: { runId: string | undefined }): ReactNode =>
  runId !== undefined && (
    <span className="checkpoint-run" title={`The input of run ${runId}`}>
      of run {runId.slice(0, 8)}
    </span>
  );

const laneWidth = 14;
const rowHeight = 34;

const LaneCell = ({
  lane: { lane, lines, joins } = { lane: 0, lines: [], joins: [] },
  columns,
  isLast,
}: {
  lane: Lane | undefined;
  columns: number;
  isLast: boolean;
}): ReactNode => {
  const x = (column: number): number => column * laneWidth + laneWidth / 2;
  const middle = rowHeight / 2;
  return (
    <svg className="lanes" width={columns * laneWidth} height={rowHeight} aria-hidden="true">
      {lines.map((column) => (
        <line
          key={column}
          x1={x(column)}
          x2={x(column)}
          y1={0}
          y2={isLast && column === lane ? middle : rowHeight}
          data-lane={column}
        />
      ))}
      {joins.map((column) => (
        <path
          key={column}
          d={`M ${x(column)} 0 C ${x(column)} ${middle} ${x(lane)} 0 ${x(lane)} ${middle}`}
        />
      ))}
      <circle cx={x(lane)} cy={middle} r={4} data-lane={lane} />
    </svg>
  );
};

// Lanes of checkpoints, as a commit graph has them: the newest path is lane 0, and each fork has a lane of its own until it meets it.
interface Step {
  checkpoint_id: string | null;
  parent_checkpoint_id: string | null;
}

interface Lane {
  /** The column of the checkpoint's dot. */
  lane: number;
  /** Columns with a line that passes or starts at the checkpoint. */
  lines: number[];
  /** Columns of the children of this checkpoint. Their lines end here. */
  joins: number[];
}

/** `newestFirst`: a child is before its parent. A parent may be missing, because it was pruned or is on a later page. */
export const layLanes = (newestFirst: readonly Step[]): Lane[] => {
  /** The checkpoint that each column waits for. */
  const waiting: (string | null)[] = [];
  return newestFirst.map(({ checkpoint_id: id, parent_checkpoint_id: parent }) => {
    const columns = waiting.flatMap((wanted, column) => (wanted === id && id !== null ? [column] : []));
    const free = waiting.indexOf(null);
    const lane = columns[0] ?? (free === -1 ? waiting.length : free);
    const joins = columns.slice(1);
    for (const column of joins) waiting[column] = null;
    waiting[lane] = parent;
    const lines = waiting.flatMap((wanted, column) => (wanted !== null || column === lane ? [column] : []));
    return { lane, lines, joins };
  });
};
