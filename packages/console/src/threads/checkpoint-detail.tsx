// One checkpoint: what it has changed, what comes next, and what can be started from it.
import type { Thread } from '@svc/sdk';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useStoredState } from '../stored/stored-queries.ts';
import { CopyId } from '../ui/copy.tsx';
import { ChoiceChips } from '../ui/filters.tsx';
import { Loaded } from '../ui/states.tsx';
import { JsonChanges } from '../values/json-changes.tsx';
import { JsonTree } from '../values/json-tree.tsx';
import { CheckpointActions } from './checkpoint-actions.tsx';
import { type CheckpointRow, stepOf } from './checkpoint-row.ts';

const route = getRouteApi('/threads/$threadId');

export const CheckpointDetail = ({
  thread,
  row,
  name,
  runId,
  notice,
}: {
  thread: Thread;
  row: CheckpointRow;
  name: string;
  /** A new run gets the config of this run. */
  runId: string | undefined;
  notice: ReactNode;
}): ReactNode => {
  const { checkpoint_id: id } = row;
  const own = row.metadata['run_id'];
  return (
    <section className="split-detail" aria-label="Checkpoint" tabIndex={0}>
      <header className="row">
        <h2>
          Step {stepOf(row)} · {name}
        </h2>
        {id !== null && <CopyId id={id} label="checkpoint id" />}
        {typeof own === 'string' && (
          <Link to="/runs/$runId" params={{ runId: own }} search={{ thread: thread.thread_id }}>
            its run
          </Link>
        )}
        <ViewChips />
      </header>
      {notice}
      {id !== null && (
        <CheckpointActions key={id} thread={thread} row={row} checkpointId={id} name={name} runId={runId} />
      )}
      <Values threadId={thread.thread_id} row={row} />
    </section>
  );
};

const ViewChips = (): ReactNode => {
  const { view = 'changes' } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <ChoiceChips
      label="View"
      className="spread"
      choices={[
        ['changes', 'Changes since the parent'],
        ['values', 'All values'],
      ]}
      chosen={view}
      onChange={(name) => void navigate({ search: (search) => ({ ...search, view: name }), replace: true })}
    />
  );
};

const Values = ({ threadId, row }: { threadId: string; row: CheckpointRow }): ReactNode => {
  const { view = 'changes' } = route.useSearch();
  const { checkpoint_id: id, parent_checkpoint_id: parent } = row;
  const state = useStoredState(threadId, id);
  const before = useStoredState(threadId, view === 'changes' ? parent : null);
  return (
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
  );
};
