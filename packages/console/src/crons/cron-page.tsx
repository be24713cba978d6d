import type { Cron } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useClient } from '../api/client.tsx';
import { useAssistants } from '../api/queries.ts';
import { MissingCron } from '../app/missing.tsx';
import { RunTable } from '../runs/run-table.tsx';
import { Button } from '../ui/button.tsx';
import { CopyId } from '../ui/copy.tsx';
import { DeleteButton } from '../ui/dialog.tsx';
import { Icon } from '../ui/icons.tsx';
import { Fact, Panel } from '../ui/panel.tsx';
import { ErrorNotice, Loaded } from '../ui/states.tsx';
import { Moment } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { JsonTree } from '../values/json-tree.tsx';
import { useCron, useCronRuns } from './cron-queries.ts';
import { CronState, Schedule } from './schedule.tsx';

const route = getRouteApi('/crons/$cronId');

export const CronPage = (): ReactNode => {
  const { cronId } = route.useParams();
  const query = useCron(cronId);
  return (
    <Loaded query={query} missing={MissingCron}>
      {(cron) => <CronView cron={cron} />}
    </Loaded>
  );
};

const CronView = ({ cron }: { cron: Cron }): ReactNode => (
  <div className="page">
    <header className="page-head">
      <h1>Cron</h1>
      <CopyId id={cron.cron_id} label="cron id" />
      <CronState cron={cron} />
      <CronActions cron={cron} />
    </header>
    <div className="page-body pad stack" tabIndex={0} role="region" aria-label="Cron">
      {cron.last_error !== null && (
        <div className="notice" data-tone="red">
          <Icon name="warning" />
          {visibleText(cron.last_error)}
        </div>
      )}
      <Facts cron={cron} />
      <LastRuns cron={cron} />
    </div>
  </div>
);

const Facts = ({ cron }: { cron: Cron }): ReactNode => {
  const assistants = useAssistants();
  const assistant = assistants.data?.find(({ assistant_id: id }) => id === cron.assistant_id);
  const { next_run_date: next, end_time: end } = cron;
  return (
    <section className="panel" aria-label="Schedule">
      <dl className="facts pad">
        <Fact name="Schedule" value={<Schedule schedule={cron.schedule} timezone={cron.timezone} />} />
        <Fact name="Next run" value={cron.enabled && next !== null ? <Moment at={next} /> : 'none'} />
        <Fact name="Ends" value={end !== null && <span className="mono">{end}</span>} />
        <Fact
          name="Assistant"
          value={assistant ? visibleText(assistant.name) : <code>{cron.assistant_id}</code>}
        />
        <Fact
          name="Thread"
          value={
            cron.thread_id === null ? (
              `a new one for each run, ${cron.on_run_completed === 'keep' ? 'which is kept' : 'which is deleted after it'}`
            ) : (
              <Link to="/threads/$threadId" params={{ threadId: cron.thread_id }} className="mono">
                {cron.thread_id}
              </Link>
            )
          }
        />
        <Fact name="Owner" value={cron.user_id !== null && visibleText(cron.user_id)} />
        <Fact name="Created" value={<Moment at={cron.created_at} />} />
        <Fact name="Options of its runs" value={<JsonTree value={cron.payload} openDepth={2} />} />
        <Fact name="Metadata" value={<JsonTree value={cron.metadata} />} />
      </dl>
    </section>
  );
};

const LastRuns = ({ cron }: { cron: Cron }): ReactNode => {
  const runs = useCronRuns(cron.cron_id);
  const isDeleted = cron.thread_id === null && cron.on_run_completed === 'delete';
  return (
    <Panel title="Last runs">
      <Loaded query={runs}>
        {(rows) => (
          <RunTable
            runs={rows}
            showsThread={cron.thread_id === null}
            empty={
              <p className="muted pad">
                {isDeleted
                  ? 'Runs of this cron are deleted with their threads when they end.'
                  : 'No run of this cron is stored.'}
              </p>
            }
          />
        )}
      </Loaded>
    </Panel>
  );
};

const CronActions = ({ cron }: { cron: Cron }): ReactNode => {
  const client = useClient();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const refresh = () => queries.invalidateQueries({ queryKey: ['crons'] });
  const toggle = useMutation({
    mutationFn: () => client.crons.update(cron.cron_id, { enabled: !cron.enabled }),
    onSuccess: refresh,
  });
  const remove = useMutation({
    mutationFn: () => client.crons.delete(cron.cron_id),
    onSuccess: async () => {
      await navigate({ to: '/crons' });
      queries.removeQueries({ queryKey: ['crons', 'one', cron.cron_id] });
      await refresh();
    },
  });
  return (
    <>
      <div className="page-actions">
        <Button disabled={toggle.isPending} onClick={() => toggle.mutate()}>
          {cron.enabled ? 'Pause' : 'Resume'}
        </Button>
        <DeleteButton title="Delete this cron?" action="Delete the cron" request={remove}>
          <p>It creates no more runs. The runs that it has created stay. This cannot be undone.</p>
        </DeleteButton>
      </div>
      <ErrorNotice error={toggle.error} />
    </>
  );
};
