// Shows what a bulk action is for before it begins: how many runs, with which statuses, and the first ones.
import type { Assistant } from '@svc/sdk';
import { type ReactNode, useState } from 'react';
import { useClient, useServerQuery } from '../api/client.tsx';
import { runStatuses } from '../api/statuses.ts';
import { RunBadge } from '../ui/badge.tsx';
import { DataTable } from '../ui/data-table.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { TextField } from '../ui/form-field.tsx';
import { countOf, countText } from '../ui/number-text.ts';
import { Loaded } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { BulkJob } from './bulk-job.ts';
import {
  actionNames,
  type BulkAction,
  type BulkRun,
  type BulkSelection,
  type MatchingPage,
  operationOf,
  readerOf,
  type ReadMatching,
} from './bulk-operation.ts';
import { isFiltered } from './run-filter.ts';
import './bulk.css';

const sampleMax = 10;
/** More runs than this need their number typed. */
const askedFrom = 100;

interface Preview extends MatchingPage {
  read: ReadMatching;
}

/** The runs are read once: a confirmed action begins with exactly those that were shown. */
const usePreview = (action: BulkAction, selection: BulkSelection) => {
  const [id] = useState(() => crypto.randomUUID());
  return useServerQuery({
    queryKey: ['bulk preview', id],
    read: async (client, call): Promise<Preview> => {
      const read = readerOf(client, action, selection, Date.now());
      return { ...(await read(undefined, call)), read };
    },
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
};

export const BulkDialog = ({
  action,
  selection,
  assistants,
  onStart,
  onClose,
}: {
  action: BulkAction;
  selection: BulkSelection;
  assistants: readonly Assistant[];
  onStart: (job: BulkJob) => void;
  onClose: () => void;
}): ReactNode => {
  const client = useClient();
  const preview = usePreview(action, selection);
  const [typed, setTyped] = useState('');
  const count = preview.data?.runs.length ?? 0;
  const hasMore = preview.data?.next !== undefined;
  const isAsked = count > askedFrom || hasMore;
  const isConfirmed =
    (count > 0 || hasMore) && (!isAsked || typed.replaceAll(/[\s,]/g, '') === String(count));
  const start = (): void => {
    if (!preview.data) return;
    const { read, ...first } = preview.data;
    const jobId = crypto.randomUUID();
    onStart(
      new BulkJob({ id: jobId, action, operation: operationOf(client, action, { jobId }), first, read }),
    );
  };
  return (
    <Dialog
      title={`${actionNames[action]} runs`}
      onClose={onClose}
      actions={
        <DialogActions
          action={
            preview.data
              ? `${actionNames[action]} ${countText(count, 'run', { hasMore })}`
              : actionNames[action]
          }
          kind={action === 'cancel' ? 'danger' : 'primary'}
          isDisabled={!isConfirmed}
          onAction={start}
          onClose={onClose}
        />
      }
    >
      <Loaded query={preview}>
        {({ runs }) =>
          runs.length === 0 && !hasMore ? (
            <NothingToDo action={action} />
          ) : (
            <>
              <Scope selection={selection} count={count} hasMore={hasMore} />
              <Counts runs={runs} />
              <Sample runs={runs} assistants={assistants} />
              <p>{consequences[action]}</p>
              {isAsked && (
                <TextField
                  label={`Type ${count} to confirm`}
                  value={typed}
                  onChange={setTyped}
                  hint={hasMore ? 'More runs than these match; they follow, newest first.' : undefined}
                />
              )}
            </>
          )
        }
      </Loaded>
    </Dialog>
  );
};

const consequences: Record<BulkAction, string> = {
  cancel: 'What the runs have written to their threads stays. They cannot be continued afterwards.',
  retry:
    'Each run is repeated as a new run with the same input, config and context, on the newest state of its thread, without the webhook of the original. Runs of one thread start in their order.',
};

const NothingToDo = ({ action }: { action: BulkAction }): ReactNode => (
  <p>
    {action === 'cancel'
      ? 'No run that matches is pending or running. Other runs cannot be cancelled.'
      : 'No run that matches has ended with an error or a timeout. Other runs are not retried.'}
  </p>
);

const Scope = ({
  selection,
  count,
  hasMore,
}: {
  selection: BulkSelection;
  count: number;
  hasMore: boolean;
}): ReactNode => {
  const text = <strong>{countText(count, 'run', { hasMore })}</strong>;
  if (selection.kind === 'rows') return <p>{text} of the selected ones.</p>;
  return isFiltered(selection.filter) ? (
    <p>{text} matching the filter.</p>
  ) : (
    <p className="notice" data-tone="amber">
      <span className="notice-text">
        {text}. There is no filter: these are the runs of all threads that you may read.
      </span>
    </p>
  );
};

const Counts = ({ runs }: { runs: readonly BulkRun[] }): ReactNode => (
  <ul className="row bulk-counts" aria-label="Runs by status">
    {runStatuses
      .map((status) => ({ status, count: runs.filter((run) => run.status === status).length }))
      .filter(({ count }) => count > 0)
      .map(({ status, count }) => (
        <li key={status} className="row">
          <RunBadge status={status} /> {countOf(count)}
        </li>
      ))}
  </ul>
);

const Sample = ({
  runs,
  assistants,
}: {
  runs: readonly BulkRun[];
  assistants: readonly Assistant[];
}): ReactNode => {
  const names = new Map(assistants.map(({ assistant_id: id, name }) => [id, name]));
  return (
    <div className="bulk-sample" tabIndex={0} role="region" aria-label="The newest of these runs">
      <DataTable
        rows={runs.slice(0, sampleMax)}
        columns={[
          { name: 'Status', cell: ({ status }) => <RunBadge status={status} /> },
          { name: 'Run', className: 'mono', cell: ({ run_id: id }) => id.slice(0, 8) },
          {
            name: 'Assistant',
            className: 'wide',
            cell: ({ assistant_id: id }) => visibleText(names.get(id) ?? id.slice(0, 8)),
          },
          { name: 'Created', className: 'number', cell: (run) => <Ago at={run.created_at} /> },
        ]}
        keyOf={({ run_id: id }) => id}
      />
    </div>
  );
};
