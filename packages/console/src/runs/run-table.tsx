import type { Run } from '@svc/sdk';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAssistants } from '../api/queries.ts';
import { isOpen } from '../api/statuses.ts';
import { FilterChips } from '../app/filter-chips.tsx';
import { shownColumns } from '../app/list-settings.ts';
import { RunBadge } from '../ui/badge.tsx';
import { CopyId } from '../ui/copy.tsx';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { Ago, Elapsed, Took } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';

/** Rows that are chosen for an action. */
export interface RowSelection {
  ids: ReadonlySet<string>;
  onChange: (ids: ReadonlySet<string>) => void;
}

export const RunTable = ({
  runs,
  showsThread = true,
  toggled = [],
  selection,
  empty,
}: {
  runs: readonly Run[];
  showsThread?: boolean;
  /** The columns that the person has chosen otherwise. */
  toggled?: readonly string[];
  /** Without it, rows have no checkbox. */
  selection?: RowSelection;
  empty?: ReactNode;
}): ReactNode => {
  const { data: assistants = [] } = useAssistants();
  const names = new Map(assistants.map(({ assistant_id: id, name }) => [id, name]));
  const columns = [
    ...(selection ? [selectColumn(runs, selection)] : []),
    ...shownColumns(runColumns(names), toggled).filter(({ name }) => showsThread || name !== 'Thread'),
  ];
  return <DataTable rows={runs} columns={columns} keyOf={({ run_id: id }) => id} empty={empty} />;
};

/** `names`: of assistants, by id. */
export const runColumns = (names: ReadonlyMap<string, string>): readonly Column<Run>[] => [
  { name: 'Status', cell: ({ status }) => <RunBadge status={status} /> },
  {
    name: 'Run',
    isFixed: true,
    cell: ({ run_id: runId, thread_id: thread }) => (
      <Link
        to="/runs/$runId"
        params={{ runId }}
        search={{ thread }}
        data-row
        aria-label={`Run ${runId}`}
        className="mono"
      >
        {runId.slice(0, 8)}
      </Link>
    ),
  },
  {
    name: 'Assistant',
    cell: ({ assistant_id: id }) => visibleText(names.get(id) ?? id.slice(0, 8)),
  },
  { name: 'Thread', cell: ({ thread_id: id }) => <CopyId id={id} label="thread id" /> },
  {
    name: 'Metadata',
    isExtra: true,
    cell: ({ metadata }) => <FilterChips list="/runs" metadata={metadata} />,
  },
  {
    name: 'Error',
    className: 'wide',
    title: ({ error }) => error?.message,
    cell: ({ error }) => error && visibleText(`${error.error}: ${error.message}`.slice(0, 300)),
  },
  { name: 'Attempt', className: 'number optional', cell: ({ attempt }) => attempt },
  {
    name: 'Took',
    className: 'number',
    cell: ({ status, created_at: created, updated_at: updated }) =>
      isOpen(status) ? (
        <span className="muted">
          {status === 'pending' && 'waits '}
          <Elapsed since={created} /> so far
        </span>
      ) : (
        <Took from={created} to={updated} />
      ),
  },
  { name: 'Created', className: 'number', cell: (run) => <Ago at={run.created_at} /> },
];

const selectColumn = (runs: readonly Run[], { ids, onChange }: RowSelection): Column<Run> => {
  const isAll = runs.length > 0 && runs.every(({ run_id: id }) => ids.has(id));
  const toggle = (id: string): void => {
    const next = new Set(ids);
    if (!next.delete(id)) next.add(id);
    onChange(next);
  };
  return {
    name: (
      <input
        type="checkbox"
        aria-label="Select all runs of the list"
        checked={isAll}
        onChange={() => onChange(new Set(isAll ? [] : runs.map(({ run_id: id }) => id)))}
      />
    ),
    className: 'select',
    cell: ({ run_id: id }) => (
      <input
        type="checkbox"
        aria-label={`Select run ${id}`}
        checked={ids.has(id)}
        onChange={() => toggle(id)}
      />
    ),
  };
};
