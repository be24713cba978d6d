// Why a run failed: the error with its causes, the nodes in which it stopped, the state that they read, and a retry from there.
import { rerunOptions, type Run, type RunOptions } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useClient } from '../api/client.tsx';
import { refreshChanged } from '../api/refresh.ts';
import { useStoredState } from '../stored/stored-queries.ts';
import { Button } from '../ui/button.tsx';
import { CopyText } from '../ui/copy.tsx';
import { Icon } from '../ui/icons.tsx';
import { countText } from '../ui/number-text.ts';
import { Panel } from '../ui/panel.tsx';
import { ErrorNotice, Loaded } from '../ui/states.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { JsonTree } from '../values/json-tree.tsx';
import { readStack, type StackOf } from './read-stack.ts';
import { useTimeline } from './run-timeline.tsx';
import './run-stack.css';

export const RunFailure = ({ run }: { run: Run }): ReactNode => (
  <>
    {run.error && <RunError error={run.error} />}
    <FailedStep run={run} />
  </>
);

const RunError = ({ error: { error, message, stack } }: { error: NonNullable<Run['error']> }): ReactNode => {
  const [own, ...causes] = stack === undefined ? [] : readStack(stack, `${error}: ${message}`);
  return (
    <>
      <div className="notice" data-tone="red">
        <Icon name="warning" />
        <strong>{visibleText(error)}</strong>
        <span>{visibleText(message)}</span>
      </div>
      {stack !== undefined && own && (
        <Panel
          title="Stack"
          label="Stack of the error"
          aside={
            <span className="spread">
              <CopyText text={stack} shown="Copy" label="stack" />
            </span>
          }
        >
          <div className="run-stack pad mono" tabIndex={0}>
            {/* The notice above has its head already. */}
            <StackLines stack={own} />
            {causes.map((cause, index) => (
              <section key={index} aria-label={`Cause ${index + 1}`}>
                <strong>Caused by: {visibleText(cause.head)}</strong>
                <StackLines stack={cause} />
              </section>
            ))}
          </div>
        </Panel>
      )}
    </>
  );
};

const StackLines = ({ stack: { parts } }: { stack: StackOf }): ReactNode =>
  parts.map(({ isLibrary, lines }, index) => {
    const text = visibleText(lines.join('\n'));
    return isLibrary ? (
      <details key={index}>
        <summary className="muted">{countText(lines.length, 'frame')} of libraries</summary>
        <div>{text}</div>
      </details>
    ) : (
      <div key={index}>{text}</div>
    );
  });

/** Nothing for a run that failed outside of a node, or whose checkpoints are gone. */
const FailedStep = ({ run }: { run: Run }): ReactNode => {
  const { data: timeline } = useTimeline(run);
  if (timeline === undefined) return null;
  const { steps, executing } = timeline;
  const last = steps.at(-1);
  // A run that failed in its first step has no checkpoint of its own, if it had no input.
  const checkpointId = last?.checkpoint_id ?? startOf(run);
  if (checkpointId === undefined || (last && executing.length === 0)) return null;
  return (
    <Panel
      title={
        executing.length === 0
          ? 'State that the failed step has read'
          : `State that ${visibleText(executing.join(', '))} has read`
      }
      label="Input of the failed step"
      aside={<RetryFrom run={run} checkpointId={checkpointId} />}
    >
      <StateBefore threadId={run.thread_id} checkpointId={checkpointId} />
    </Panel>
  );
};

/** The checkpoint at which the run has started, if it has one in its request. */
const startOf = ({ kwargs }: Run): string | undefined => {
  const { checkpoint } = kwargs as { checkpoint?: { checkpoint_id?: unknown } | null };
  return typeof checkpoint?.checkpoint_id === 'string' ? checkpoint.checkpoint_id : undefined;
};

const StateBefore = (at: { threadId: string; checkpointId: string }): ReactNode => {
  const query = useStoredState(at.threadId, at.checkpointId);
  return (
    <div className="pad">
      <Loaded query={query}>{({ values }) => <JsonTree value={values} openDepth={1} />}</Loaded>
    </div>
  );
};

const RetryFrom = ({ run, checkpointId }: { run: Run; checkpointId: string }): ReactNode => {
  const client = useClient();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { thread_id: threadId } = run;
  const retry = useMutation({
    mutationFn: () => {
      const { command: _, ...options } = rerunOptions(run);
      return client.runs.create(
        threadId,
        run.assistant_id,
        { ...options, input: null, checkpoint_id: checkpointId, multitask_strategy: 'reject' } as RunOptions,
        { idempotencyKey: crypto.randomUUID() },
      );
    },
    onSuccess: async ({ run_id: runId }) => {
      await refreshChanged(queries);
      await navigate({ to: '/runs/$runId', params: { runId }, search: { thread: threadId } });
    },
  });
  return (
    <span className="row spread">
      <ErrorNotice error={retry.error} />
      <Button
        title="Executes the failed step again, on the same state"
        disabled={retry.isPending}
        onClick={() => retry.mutate()}
      >
        <Icon name="rerun" size={14} /> Retry from here
      </Button>
      <Link
        className="button"
        title="Opens the checkpoint, whose state can be edited before the step runs again"
        to="/threads/$threadId"
        params={{ threadId }}
        search={{ tab: 'checkpoints', checkpoint: checkpointId }}
      >
        <Icon name="edit" size={14} /> Fork…
      </Link>
    </span>
  );
};
