import { Link } from '@tanstack/react-router';
import { useEffect, useState, type ReactNode } from 'react';
import { RunBadge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { duration } from '../ui/duration.ts';
import { waitingText } from '../ui/time-text.ts';
import { Icon } from '../ui/icons.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { recordedMs } from './column-figures.tsx';
import type { Conversation } from './use-conversation.ts';

/** The run that streams or that has just ended, with the button that stops it. */
export const RunStatus = ({
  conversation: { run, isRunning, activity, questions, times, stop },
}: {
  conversation: Pick<Conversation, 'run' | 'isRunning' | 'activity' | 'questions' | 'times' | 'stop'>;
}): ReactNode => (
  <span className="row" aria-live="polite">
    {isRunning && run?.status === 'pending' && activity.size === 0 ? (
      <>
        <RunBadge status="pending" />
        <span className="muted">{run.waiting_for && visibleText(waitingText(run.waiting_for))}</span>
      </>
    ) : isRunning ? (
      <RunBadge status="running" />
    ) : questions.length > 0 ? (
      <span className="badge" data-tone="amber">
        waits for an answer
      </span>
    ) : (
      run && <RunBadge status={run.status} />
    )}
    {isRunning ? <Elapsed /> : <Took tookMs={times?.tookMs ?? recordedMs(run)} />}
    {run && (
      <Link to="/runs/$runId" params={{ runId: run.run_id }} search={{ thread: run.thread_id }}>
        Run
      </Link>
    )}
    {run && (
      <Link to="/traces/$traceId" params={{ traceId: run.run_id }}>
        Trace
      </Link>
    )}
    {isRunning && (
      <Button kind="danger" onClick={() => void stop()}>
        <Icon name="stop" size={12} /> Stop
      </Button>
    )}
  </span>
);

/** How long the run that has ended took. */
const Took = ({ tookMs }: { tookMs: number | undefined }): ReactNode =>
  tookMs !== undefined && (
    <span className="muted mono" title="From the request to the end of the run">
      {duration(tookMs)}
    </span>
  );

const Elapsed = (): ReactNode => {
  const [startedMs] = useState(() => performance.now());
  const [nowMs, setNow] = useState(startedMs);
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 200);
    return () => clearInterval(timer);
  }, []);
  return (
    <span className="muted mono" aria-hidden="true">
      {duration(nowMs - startedMs)}
    </span>
  );
};
