// Threads that wait for a person, the oldest first, answered in place.
import type { Thread } from '@svc/sdk';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useServerQuery } from '../api/client.tsx';
import { type CountFilter, useOpenTasks, useRun, useThreadCount } from '../api/queries.ts';
import { isOpen, runStatusNames } from '../api/statuses.ts';
import { QuestionBox } from '../interrupts/question-box.tsx';
import { questionsOf, titleOf } from '../interrupts/read-interrupt.ts';
import { type SentAnswer, useAnswer } from '../interrupts/use-answer.ts';
import { useLiveState, usePollMs } from '../live/live-runs.tsx';
import { StateView } from '../messages/state-view.tsx';
import { useStoredState } from '../stored/stored-queries.ts';
import { CopyId } from '../ui/copy.tsx';
import { ChoiceChips } from '../ui/filters.tsx';
import { Icon } from '../ui/icons.tsx';
import { Panel } from '../ui/panel.tsx';
import { Loaded, State } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';
import './inbox.css';

const route = getRouteApi('/inbox');
const threadsMax = 100;

/** Threads that ask a question, or those that stopped without one: at a breakpoint, or because their run was cancelled. */
type Shown = 'questions' | 'stopped';

/** Without a graph, the filter of the questions is that of the rail: both read one count. */
const filterOf = (shown: Shown, graph: string | undefined): CountFilter => ({
  ...(shown === 'questions' ? { has_interrupts: true } : { has_interrupts: false, status: 'interrupted' }),
  ...(graph === undefined ? {} : { metadata: { graph_id: graph } }),
});

const useWaiting = (shown: Shown, graph: string | undefined) =>
  useServerQuery({
    queryKey: ['inbox', shown, graph],
    read: (client, call) =>
      client.threads.search(
        {
          ...filterOf(shown, graph),
          sort_by: 'state_updated_at',
          sort_order: 'asc',
          limit: threadsMax,
          select: ['thread_id', 'state_updated_at', 'metadata', 'status', 'interrupts'],
        },
        call,
      ),
    refetchInterval: usePollMs(4_000),
  });

export const InboxPage = (): ReactNode => {
  const { show, graph, sel } = route.useSearch();
  const place = [show, graph, sel].join(' ');
  const shown = show ?? 'questions';
  const waiting = useWaiting(shown, graph);
  const [sent, setSent] = useState<SentAnswer & { place: string }>();
  return (
    <div className="page">
      <header className="page-head">
        <h1>Inbox</h1>
        <ShownChips shown={shown} graph={graph} />
        {graph !== undefined && (
          <Link to="/inbox" search={{ show }} className="chip">
            graph {graph} ×
          </Link>
        )}
      </header>
      {/* Until the next answer, or until another thread is selected. */}
      <AnswerSent sent={sent?.place === place ? sent : undefined} />
      <Loaded query={waiting}>
        {(threads) => {
          const selected = threads.find(({ thread_id: id }) => id === sel) ?? threads[0];
          return selected ? (
            <div className="split">
              <WaitingList threads={threads} selected={selected} />
              <Waiting
                key={selected.thread_id}
                thread={selected}
                onSent={(answer) => setSent({ ...answer, place })}
              />
            </div>
          ) : (
            <Nobody shown={shown} />
          );
        }}
      </Loaded>
    </div>
  );
};

const ShownChips = ({ shown, graph }: { shown: Shown; graph: string | undefined }): ReactNode => {
  const navigate = route.useNavigate();
  const counts = {
    questions: useThreadCount(filterOf('questions', graph)).data,
    stopped: useThreadCount(filterOf('stopped', graph)).data,
  };
  return (
    <ChoiceChips
      label="Which threads"
      choices={[
        ['questions', `Waiting for an answer ${counts.questions ?? ''}`],
        ['stopped', `Stopped without a question ${counts.stopped ?? ''}`],
      ]}
      chosen={shown}
      onChange={(of) => void navigate({ search: { show: of === 'stopped' ? of : undefined, graph } })}
    />
  );
};

const Nobody = ({ shown }: { shown: Shown }): ReactNode =>
  shown === 'questions' ? (
    <State icon="check" title="Nobody is waiting for you">
      <p className="muted">
        A graph that calls <code>interrupt()</code> appears here, until somebody has answered.
      </p>
    </State>
  ) : (
    <State icon="check" title="No thread has stopped without a question">
      <p className="muted">A breakpoint or a cancelled run leaves a thread here, until it is continued.</p>
    </State>
  );

const AnswerSent = ({ sent }: { sent: SentAnswer | undefined }): ReactNode => (
  <div role="status">
    {sent && (
      <p className="notice page-notice" data-tone="blue">
        <span>
          Answer sent.{' '}
          <Link to="/runs/$runId" params={{ runId: sent.runId }} search={{ thread: sent.threadId }}>
            Run {sent.runId.slice(0, 8)}
          </Link>{' '}
          <SentRunState sent={sent} />
        </span>
      </p>
    )}
  </div>
);

const SentRunState = ({ sent: { threadId, runId } }: { sent: SentAnswer }): ReactNode => {
  const { data: run } = useRun(threadId, runId);
  if (run === undefined || isOpen(run.status)) return 'continues.';
  return `has ended: ${runStatusNames[run.status]}.`;
};

const firstValue = ({ interrupts = {} }: Thread): unknown => Object.values(interrupts)[0]?.[0]?.value;

const graphOf = ({ metadata }: Thread): string =>
  typeof metadata['graph_id'] === 'string' ? metadata['graph_id'] : '';

const WaitingList = ({ threads, selected }: { threads: readonly Thread[]; selected: Thread }): ReactNode => (
  <nav className="split-list" aria-label="Waiting threads" tabIndex={0}>
    {threads.map((thread) => (
      <Link
        key={thread.thread_id}
        from="/inbox"
        to="."
        search={(search) => ({ ...search, sel: thread.thread_id })}
        className="inbox-item"
        data-row
        aria-current={thread === selected ? 'true' : undefined}
      >
        <span className="inbox-title">{inboxTitle(thread)}</span>
        <span className="muted row">
          {visibleText(graphOf(thread))} · <span className="mono">{thread.thread_id.slice(0, 8)}</span>
          <span className="spread">
            <Ago at={thread.state_updated_at} />
          </span>
        </span>
      </Link>
    ))}
  </nav>
);

/** A thread that stopped at a breakpoint, or whose run was cancelled, asks nothing. */
const inboxTitle = (thread: Thread): string => {
  const value = firstValue(thread);
  return value === undefined
    ? 'Stopped without a question'
    : visibleText(withoutMarkup(titleOf(value).slice(0, 200)));
};

/** A row is one line: it shows no headings, emphasis or code. */
const withoutMarkup = (markdown: string): string =>
  markdown.replace(/^#+\s+/, '').replaceAll(/(\*\*|__|`)(.+?)\1/g, '$2');

const Waiting = ({ thread, onSent }: { thread: Thread; onSent: (sent: SentAnswer) => void }): ReactNode => {
  const { thread_id: threadId, metadata } = thread;
  const open = useOpenTasks(threadId);
  const answer = useAnswer(onSent);
  const assistantId =
    typeof metadata['assistant_id'] === 'string' ? metadata['assistant_id'] : graphOf(thread);
  return (
    <section className="split-detail" aria-label="The waiting thread" tabIndex={0}>
      <header className="row">
        <Link to="/threads/$threadId" params={{ threadId }}>
          Thread
        </Link>
        <CopyId id={threadId} label="thread id" />
        <Link
          className="button spread"
          to="/playground"
          search={{ assistant: assistantId, thread: threadId }}
        >
          <Icon name="playground" size={14} /> Open in the playground
        </Link>
      </header>
      <Loaded query={open}>
        {(current) => {
          const questions = questionsOf(current);
          return (
            <>
              {questions.map((question, index) => (
                <QuestionBox
                  key={question.id ?? index}
                  question={question}
                  isSending={answer.isPending}
                  error={answer.error}
                  onAnswer={(given) => answer.mutate({ threadId, assistantId, question, answer: given })}
                />
              ))}
              {questions.length === 0 && (
                <p className="notice" data-tone="amber">
                  The thread asks nothing: a breakpoint has stopped it, or its run was cancelled. It has
                  stopped before {visibleText(current.next.join(', ')) || 'its end'}; continue it in the
                  playground.
                </p>
              )}
              <SoFar threadId={threadId} />
            </>
          );
        }}
      </Loaded>
    </section>
  );
};

/** What the thread has done until it waits. */
const SoFar = ({ threadId }: { threadId: string }): ReactNode => {
  const query = useStoredState(threadId, undefined, { isLive: useLiveState() !== 'live' });
  return (
    <Panel title="The thread so far" label="State of the thread">
      <Loaded query={query}>{(state) => <StateView state={state} newest={6} />}</Loaded>
    </Panel>
  );
};
