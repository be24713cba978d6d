import type { Run } from '@svc/sdk';
import type { ReactNode } from 'react';
import { duration } from '../ui/duration.ts';
import { costOf, tokensOf } from '../ui/token-text.ts';
import { ThreadLink } from './thread-link.tsx';
import { useTraceCost } from './trace-cost.ts';
import { turnUsage } from './turn-figures.ts';
import type { Conversation } from './use-conversation.ts';

/** How fast the newest run was, and what its turn has used, as far as it is known. */
export const ColumnFigures = ({ conversation }: { conversation: Conversation }): ReactNode => {
  const { threadId, messages, run, isRunning, times } = conversation;
  const usage = turnUsage(messages);
  const traceCost = useTraceCost(isRunning ? undefined : run);
  const tookMs = isRunning ? undefined : (times?.tookMs ?? recordedMs(run));
  const figures = [
    {
      name: 'First token',
      title: 'From the request to the first part of an answer, as this page has seen it',
      value: times?.firstTokenMs === undefined ? '' : duration(times.firstTokenMs),
    },
    {
      name: 'Took',
      title: 'From the request to the end of the run',
      value: tookMs === undefined ? '' : duration(tookMs),
    },
    {
      name: 'Tokens',
      title: 'Read and written for the answer to your last message',
      value: usage === undefined ? '' : `${tokensOf(usage.input)} → ${tokensOf(usage.output)}`,
    },
    {
      name: 'Cost',
      title: usage?.cost === undefined ? 'Of the trace of the run' : 'Of the answer to your last message',
      value: costOf(usage?.cost === undefined ? traceCost : String(usage.cost)),
    },
  ].filter(({ value }) => value !== '');
  return (
    <footer className="column-foot">
      <dl className="column-figures">
        {figures.map(({ name, title, value }) => (
          <div key={name} title={title}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <ThreadLink threadId={threadId} />
    </footer>
  );
};

/** As the server has recorded it. */
const recordedMs = (run: Run | undefined): number | undefined =>
  run?.ended_at === undefined ? undefined : Date.parse(run.ended_at) - Date.parse(run.created_at);
