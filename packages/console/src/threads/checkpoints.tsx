// The checkpoints of a thread as a tree, and what each one has changed.
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ThreadState } from '@svc/sdk';
import { useMemo, type ReactNode } from 'react';
import { useClient } from '../api/client.tsx';
import { useStoredState } from '../stored/stored-queries.ts';
import { CopyId } from '../ui/copy-id.tsx';
import { ErrorNotice, Failure, Loaded, Skeleton, State } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { JsonChanges } from '../values/json-changes.tsx';
import { JsonTree } from '../values/json-tree.tsx';
import { visibleText } from '../values/visible-text.ts';
import { layLanes, type Lane } from './lanes.ts';
import './checkpoints.css';

const route = getRouteApi('/threads/$threadId');
const pageSize = 100;

/** Values are read for the checkpoint that is looked at only. */
const select = [
  'checkpoint_id',
  'parent_checkpoint_id',
  'metadata.source',
  'metadata.step',
  'metadata.run_id',
  'nodes',
  'created_at',
  'next',
  'interrupts',
] as const;

type Row = Pick<
  ThreadState,
  'checkpoint_id' | 'parent_checkpoint_id' | 'metadata' | 'nodes' | 'created_at' | 'next' | 'interrupts'
>;

export const Checkpoints = ({ threadId }: { threadId: string }): ReactNode => {
  const client = useClient();
  const { checkpoint: chosen } = route.useSearch();
  const query = useInfiniteQuery({
    queryKey: ['thread', threadId, 'checkpoints'],
    queryFn: ({ signal, pageParam }) =>
      client.threads.getHistory(
        threadId,
        { limit: pageSize, before: pageParam, select: [...select] },
        { signal },
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) =>
      page.length < pageSize ? undefined : (page.at(-1)?.checkpoint_id ?? undefined),
  });
  if (query.data === undefined)
    return query.error ? <Failure error={query.error} onRetry={() => void query.refetch()} /> : <Skeleton />;
  const rows: Row[] = query.data.pages.flat();
  const byId = new Map(rows.map((row) => [row.checkpoint_id, row]));
  const names = new Map(rows.map((row) => [row, nameOf(row, byId.get(row.parent_checkpoint_id))]));
  const [newest] = rows;
  if (!newest)
    return (
      <State icon="empty" title="The thread has no checkpoints">
        <p className="muted">Each step of a run makes one.</p>
      </State>
    );
  const selected = rows.find(({ checkpoint_id: id }) => id === chosen) ?? newest;
  return (
    <div className="split">
      <nav className="split-list checkpoint-list" aria-label="Checkpoints, newest first" tabIndex={0}>
        <ErrorNotice error={query.error} />
        <CheckpointTree rows={rows} names={names} selected={selected} />
        {query.hasNextPage && (
          <div className="load-more">
            <button type="button" className="button" onClick={() => void query.fetchNextPage()}>
              Load older
            </button>
          </div>
        )}
      </nav>
      <CheckpointDetail threadId={threadId} row={selected} name={names.get(selected) ?? ''} />
    </div>
  );
};

const CheckpointTree = ({
  rows,
  names,
  selected,
}: {
  rows: readonly Row[];
  names: ReadonlyMap<Row, string>;
  selected: Row;
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
            <span className="checkpoint-name">{names.get(row)}</span>
            {row.interrupts.length > 0 && (
              <span className="badge" data-tone="amber">
                asks
              </span>
            )}
            <span className="muted">{row.created_at !== null && <Ago at={row.created_at} />}</span>
          </Link>
        </li>
      ))}
    </ol>
  );
};

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

const stepOf = ({ metadata: { step } }: Row): string => (typeof step === 'number' ? String(step) : '');

/** The nodes of the step, also those that wrote nothing: the checkpoint before it has planned them. Otherwise where the checkpoint comes from. */
const nameOf = ({ metadata: { source }, nodes = [] }: Row, parent: Row | undefined): string => {
  const planned = parent?.next ?? [];
  const names = [...new Set([...nodes, ...planned])].map((node) => (node === '__start__' ? 'input' : node));
  const from = typeof source === 'string' ? source : '';
  return visibleText(source === 'loop' && names.length > 0 ? names.join(', ') : from);
};

const CheckpointDetail = ({
  threadId,
  row,
  name,
}: {
  threadId: string;
  row: Row;
  name: string;
}): ReactNode => {
  const { view = 'changes' } = route.useSearch();
  const navigate = route.useNavigate();
  const { checkpoint_id: id, parent_checkpoint_id: parent } = row;
  const state = useStoredState(threadId, id);
  const before = useStoredState(threadId, view === 'changes' ? parent : null);
  return (
    <section className="split-detail" aria-label="Checkpoint" tabIndex={0}>
      <header className="row">
        <h2>
          Step {stepOf(row)} · {name}
        </h2>
        {id !== null && <CopyId id={id} label="checkpoint id" />}
        <div className="chips spread" role="group" aria-label="View">
          {(['changes', 'values'] as const).map((name) => (
            <button
              key={name}
              type="button"
              className="chip"
              aria-pressed={view === name}
              onClick={() =>
                void navigate({ search: (search) => ({ ...search, view: name }), replace: true })
              }
            >
              {name === 'changes' ? 'Changes since the parent' : 'All values'}
            </button>
          ))}
        </div>
      </header>
      <p className="muted">
        next: <code>{row.next.length > 0 ? visibleText(row.next.join(', ')) : 'nothing'}</code>
        {typeof row.metadata['run_id'] === 'string' && (
          <>
            {' · '}
            <Link to="/runs/$runId" params={{ runId: row.metadata['run_id'] }} search={{ thread: threadId }}>
              its run
            </Link>
          </>
        )}
      </p>
      <Loaded query={state}>
        {({ values }) => {
          if (view === 'values') return <JsonTree value={values} openDepth={2} />;
          if (parent === null) return <JsonChanges before={{}} after={values ?? {}} />;
          return (
            <Loaded query={before}>
              {(earlier) => <JsonChanges before={earlier.values} after={values} />}
            </Loaded>
          );
        }}
      </Loaded>
    </section>
  );
};
