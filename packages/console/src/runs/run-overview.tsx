import type { Assistant, Run } from '@svc/sdk';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { isOpen } from '../api/statuses.ts';
import { CopyId } from '../ui/copy.tsx';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { Fact, Panel } from '../ui/panel.tsx';
import { waitingText } from '../ui/time-text.ts';
import { Ago, Elapsed, Moment, Took } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { MetadataChips } from '../values/metadata-chips.tsx';
import { RunFailure } from './run-failure.tsx';
import { RunProgress } from './run-progress.tsx';

const endedAt = ({ ended_at: ended, updated_at: updated }: Run): string => ended ?? updated;

export const RunOverview = ({
  run,
  assistant,
}: {
  run: Run;
  assistant: Assistant | undefined;
}): ReactNode => (
  <div className="stack">
    {run.waiting_for && <WhyPending run={run} waiting={run.waiting_for} />}
    {(run.status === 'error' || run.status === 'timeout') && <RunFailure run={run} />}
    <section className="panel">
      <dl className="facts pad">
        <Fact
          name="Assistant"
          value={
            assistant ? (
              `${visibleText(assistant.name)} (graph ${assistant.graph_id})`
            ) : (
              <code>{run.assistant_id}</code>
            )
          }
        />
        <Fact name="Thread">
          <span className="row">
            <Link to="/threads/$threadId" params={{ threadId: run.thread_id }}>
              Open
            </Link>
            <CopyId id={run.thread_id} label="thread id" />
          </span>
        </Fact>
        <Times run={run} />
        <Fact name="Attempt" value={run.attempt} />
        <Fact name="When the thread is busy" value={run.multitask_strategy} />
        <Fact name="Metadata" value={<MetadataChips metadata={run.metadata} />} />
      </dl>
    </section>
    {run.lost_attempts && run.lost_attempts.length > 0 && <LostAttempts attempts={run.lost_attempts} />}
  </div>
);

/** The times of the run, and what it executes. */
const Times = ({ run }: { run: Run }): ReactNode => (
  <>
    <Fact name="Created" value={<Moment at={run.created_at} />} />
    {run.started_at !== undefined && (
      <Fact name={run.attempt > 1 ? 'Newest attempt' : 'Started'}>
        <span className="row">
          <Moment at={run.started_at} />
          <Link
            from="/runs/$runId"
            to="."
            search={(search) => ({ ...search, tab: 'timeline' as const })}
            replace
          >
            Timeline
          </Link>
        </span>
      </Fact>
    )}
    <RunProgress run={run} />
    {!isOpen(run.status) && (
      <Fact
        name={run.status === 'interrupted' ? 'Cancelled' : 'Ended'}
        value={<Moment at={endedAt(run)} />}
      />
    )}
    <Fact
      name={isOpen(run.status) ? 'Since creation' : 'Took'}
      value={
        isOpen(run.status) ? (
          <Elapsed since={run.created_at} />
        ) : (
          <Took from={run.created_at} to={endedAt(run)} />
        )
      }
    />
  </>
);

type Waiting = NonNullable<Run['waiting_for']>;

const remedies: Record<Waiting['reason'], string> = {
  time: 'It starts by itself. Cancel it if it is not wanted any more.',
  thread:
    'Runs of a thread are executed one after the other. Cancel the run in front of it to let this one start.',
  answer: 'Answer the question of the thread. Cancel the run if its input is not wanted any more.',
  worker:
    'Start a server or a worker whose configuration has this graph, or look at the log of the workers. Cancel the run if the graph was removed.',
  slot: 'All slots of the workers are taken. Start another worker, or cancel runs that are not wanted any more.',
};

/** Why a run is pending, and what a person can do about it. */
const WhyPending = ({ run, waiting }: { run: Run; waiting: Waiting }): ReactNode => (
  <section className="notice" data-tone="amber" aria-label="Why the run is pending">
    <strong>{visibleText(waitingText(waiting))}</strong>
    <span>{remedies[waiting.reason]}</span>
    {waiting.run_id !== undefined && (
      <Link
        className="button spread"
        to="/runs/$runId"
        params={{ runId: waiting.run_id }}
        search={{ thread: run.thread_id }}
      >
        Open the run in front
      </Link>
    )}
  </section>
);

type LostAttempt = NonNullable<Run['lost_attempts']>[number];

const lostColumns: readonly Column<LostAttempt>[] = [
  { name: 'Attempt', cell: ({ attempt }) => attempt },
  { name: 'When', cell: ({ at }) => <Ago at={at} /> },
  { name: 'Reason', className: 'wide', cell: ({ message }) => visibleText(message) },
  { name: 'Charged', cell: ({ charged }) => (charged === false ? 'no' : 'yes') },
];

const LostAttempts = ({ attempts }: { attempts: readonly LostAttempt[] }): ReactNode => (
  <Panel title="Lost attempts">
    <DataTable rows={attempts} columns={lostColumns} keyOf={({ attempt, at }) => `${attempt} ${at}`} />
  </Panel>
);
