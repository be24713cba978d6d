import { rerunOptions, type Run, type RunOptions } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useClient } from '../api/client.tsx';
import { useAssistants, useRun } from '../api/queries.ts';
import { refreshChanged } from '../api/refresh.ts';
import { isOpen } from '../api/statuses.ts';
import { CodeButton } from '../app/code-button.tsx';
import { MissingRun } from '../app/missing.tsx';
import { RunBadge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { CopyId } from '../ui/copy.tsx';
import { AskFirst } from '../ui/dialog.tsx';
import { Icon } from '../ui/icons.tsx';
import { ErrorNotice, Loaded, State } from '../ui/states.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { JsonTree } from '../values/json-tree.tsx';
import { RunEvents } from './run-events.tsx';
import { RunOverview } from './run-overview.tsx';
import { RunTimelineTab } from './run-timeline.tsx';
import { RunWebhooks } from './run-webhooks.tsx';

const route = getRouteApi('/runs/$runId');

const tabs = [
  { name: 'overview', label: 'Overview' },
  { name: 'timeline', label: 'Timeline' },
  { name: 'input', label: 'Input' },
  { name: 'events', label: 'Events' },
  { name: 'webhooks', label: 'Webhooks' },
  { name: 'raw', label: 'Raw' },
] as const;

export const RunPage = (): ReactNode => {
  const { runId } = route.useParams();
  const { thread } = route.useSearch();
  const query = useRun(thread, runId);
  if (thread === undefined)
    return (
      <State icon="empty" title="The address lacks the thread of the run">
        <p className="muted">
          A run is read through its thread: /console/runs/&lt;run&gt;?thread=&lt;thread&gt;.
        </p>
        <Link to="/runs" className="button">
          All runs
        </Link>
      </State>
    );
  return (
    <Loaded query={query} missing={MissingRun}>
      {(run) => <RunView run={run} />}
    </Loaded>
  );
};

const RunView = ({ run }: { run: Run }): ReactNode => {
  const { tab = 'overview' } = route.useSearch();
  const navigate = route.useNavigate();
  const assistants = useAssistants();
  const assistant = assistants.data?.find(({ assistant_id: id }) => id === run.assistant_id);
  return (
    <div className="page">
      <header className="page-head" data-tabs>
        <h1>Run</h1>
        <CopyId id={run.run_id} label="run id" />
        <RunBadge status={run.status} />
        <span className="muted">{assistant && visibleText(assistant.name)}</span>
        <RunActions run={run} />
      </header>
      <Tabs
        label="Parts of the run"
        tabs={tabs}
        active={tab}
        onChange={(next) => void navigate({ search: (search) => ({ ...search, tab: next }), replace: true })}
      />
      <div className="page-body pad" tabIndex={0} role="region" aria-label={tab}>
        {tab === 'overview' && <RunOverview run={run} assistant={assistant} />}
        {tab === 'timeline' && <RunTimelineTab run={run} />}
        {tab === 'input' && <JsonTree value={run.kwargs} openDepth={3} />}
        {tab === 'events' && <RunEvents run={run} />}
        {tab === 'webhooks' && <RunWebhooks run={run} />}
        {tab === 'raw' && <JsonTree value={run} openDepth={2} />}
      </div>
    </div>
  );
};

const RunActions = ({ run }: { run: Run }): ReactNode => {
  const client = useClient();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const refresh = () => refreshChanged(queries);
  const cancel = useMutation({
    mutationFn: () => client.runs.cancel(run.thread_id, run.run_id, { wait: true }),
    onSuccess: refresh,
  });
  const rerun = useMutation({
    mutationFn: () =>
      client.runs.create(run.thread_id, run.assistant_id, rerunOptions(run) as RunOptions, {
        idempotencyKey: crypto.randomUUID(),
      }),
    onSuccess: async (created) => {
      await refresh();
      await navigate({
        to: '/runs/$runId',
        params: { runId: created.run_id },
        search: { thread: created.thread_id },
      });
    },
  });
  return (
    <>
      <div className="page-actions">
        <CodeButton
          call={{
            method: 'GET',
            path: `/threads/${run.thread_id}/runs/${run.run_id}`,
            sdk: { name: 'runs.get', args: [run.thread_id, run.run_id] },
          }}
        />
        <Link
          className="button"
          to="/playground"
          search={{ assistant: run.assistant_id, thread: run.thread_id, run: run.run_id }}
        >
          <Icon name="playground" size={14} /> Open in the playground
        </Link>
        {/* The root of a trace has the id of its run. */}
        <Link className="button" to="/traces/$traceId" params={{ traceId: run.run_id }}>
          <Icon name="traces" size={14} /> Trace
        </Link>
        {isOpen(run.status) ? (
          <AskFirst
            trigger={(ask) => (
              <Button kind="danger" onClick={ask}>
                <Icon name="stop" size={12} /> Cancel…
              </Button>
            )}
            title="Cancel this run?"
            action="Cancel the run"
            request={cancel}
          >
            <p>
              What it has written to its thread stays. The run cannot be continued afterwards. If other runs
              of the thread wait, the oldest of them starts.
            </p>
          </AskFirst>
        ) : (
          <Button
            title="Starts a run with the same input, on the newest state of the thread"
            disabled={rerun.isPending}
            onClick={() => rerun.mutate()}
          >
            <Icon name="rerun" size={14} /> Run again
          </Button>
        )}
      </div>
      <ErrorNotice error={rerun.error} />
    </>
  );
};
