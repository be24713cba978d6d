import { Link, useNavigate } from '@tanstack/react-router';
import type { Assistant, Run } from '@svc/sdk';
import type { ReactNode } from 'react';
import { isOpen } from '../api/statuses.ts';
import { RunBadge } from '../ui/badge.tsx';
import { CopyId } from '../ui/copy-id.tsx';
import { Ago, Elapsed, Took } from '../ui/time.tsx';
import { visibleText } from '../values/visible-text.ts';

/** Rows that are chosen for an action. */
export interface RowSelection {
  ids: ReadonlySet<string>;
  onChange: (ids: ReadonlySet<string>) => void;
}

export const RunTable = ({
  runs,
  assistants,
  showsThread = true,
  selection,
}: {
  runs: readonly Run[];
  assistants: readonly Assistant[];
  showsThread?: boolean;
  /** Without it, rows have no checkbox. */
  selection?: RowSelection;
}): ReactNode => {
  const names = new Map(assistants.map(({ assistant_id: id, name }) => [id, name]));
  return (
    <table className="table">
      <thead>
        <tr>
          {selection && (
            <th scope="col" className="select">
              <SelectAll runs={runs} selection={selection} />
            </th>
          )}
          <th scope="col">Status</th>
          <th scope="col">Run</th>
          <th scope="col">Assistant</th>
          {showsThread && <th scope="col">Thread</th>}
          <th scope="col">Error</th>
          <th scope="col" className="number optional">
            Attempt
          </th>
          <th scope="col" className="number">
            Took
          </th>
          <th scope="col" className="number">
            Created
          </th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <RunRow
            key={run.run_id}
            run={run}
            assistant={names.get(run.assistant_id) ?? run.assistant_id.slice(0, 8)}
            showsThread={showsThread}
            selection={selection}
          />
        ))}
      </tbody>
    </table>
  );
};

const SelectAll = ({ runs, selection }: { runs: readonly Run[]; selection: RowSelection }): ReactNode => {
  const isAll = runs.length > 0 && runs.every(({ run_id: id }) => selection.ids.has(id));
  return (
    <input
      type="checkbox"
      aria-label="Select all runs of the list"
      checked={isAll}
      onChange={() => selection.onChange(new Set(isAll ? [] : runs.map(({ run_id: id }) => id)))}
    />
  );
};

const SelectRow = ({ run, selection }: { run: Run; selection: RowSelection }): ReactNode => {
  const { run_id: id } = run;
  const isSelected = selection.ids.has(id);
  const toggle = (): void => {
    const ids = new Set(selection.ids);
    if (isSelected) ids.delete(id);
    else ids.add(id);
    selection.onChange(ids);
  };
  return (
    // A click beside the box does not open the run.
    <td className="select" onClick={(event) => event.stopPropagation()}>
      <input type="checkbox" aria-label={`Select run ${id}`} checked={isSelected} onChange={toggle} />
    </td>
  );
};

const RunRow = ({
  run,
  assistant,
  showsThread,
  selection,
}: {
  run: Run;
  assistant: string;
  showsThread: boolean;
  selection: RowSelection | undefined;
}): ReactNode => {
  const navigate = useNavigate();
  const target = {
    to: '/runs/$runId',
    params: { runId: run.run_id },
    search: { thread: run.thread_id },
  } as const;
  return (
    <tr onClick={() => void navigate(target)}>
      {selection && <SelectRow run={run} selection={selection} />}
      <td>
        <RunBadge status={run.status} />
      </td>
      <td>
        <Link {...target} data-row aria-label={`Run ${run.run_id}`} className="mono">
          {run.run_id.slice(0, 8)}
        </Link>
      </td>
      <td>{visibleText(assistant)}</td>
      {showsThread && (
        <td>
          <CopyId id={run.thread_id} label="thread id" />
        </td>
      )}
      <td className="wide" title={run.error?.message}>
        {run.error === undefined ? '' : visibleText(`${run.error.error}: ${run.error.message}`.slice(0, 300))}
      </td>
      <td className="number optional">{run.attempt}</td>
      <td className="number">
        {isOpen(run.status) ? (
          <span className="muted">
            {run.status === 'pending' && 'waits '}
            <Elapsed since={run.created_at} /> so far
          </span>
        ) : (
          <Took from={run.created_at} to={run.updated_at} />
        )}
      </td>
      <td className="number">
        <Ago at={run.created_at} />
      </td>
    </tr>
  );
};
