import type { Run } from '@svc/sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { isOpen } from '../api/statuses.ts';
import { isObject, type Message } from '../messages/read-messages.ts';
import { useAccess } from '../platform/platform-access.ts';
import { duration } from '../ui/duration.ts';
import { costOf, tokensOf } from '../ui/number-text.ts';
import { ThreadLink } from './thread-link.tsx';
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
      value: costOf(usage?.cost === undefined ? traceCost?.cost : String(usage.cost)),
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
export const recordedMs = (run: Run | undefined): number | undefined =>
  run?.ended_at === undefined ? undefined : Date.parse(run.ended_at) - Date.parse(run.created_at);

/** A trace is stored a moment after its run. A server without tracing never has it. */
const pollMs = 1_000;
const readsMax = 15;

/** What a run has cost, in dollars as a decimal, from its trace: trace routes need an API key. Undefined while or where it is unknown. */
export const useTraceCost = (
  run: Run | undefined,
): { isComplete: boolean; cost: string | undefined } | undefined => {
  const access = useAccess();
  const runId = run === undefined || isOpen(run.status) ? undefined : run.run_id;
  const query = useQuery({
    queryKey: ['traces', 'cost', access?.workspaceId, runId],
    queryFn: async ({ signal }) => {
      const select = ['id', 'status', 'total_cost'];
      const page = await access?.client.traces.query({ trace: runId, is_root: true, select }, { signal });
      const [root] = page?.runs ?? [];
      return {
        isComplete: root !== undefined && root.status !== 'pending',
        cost: root?.total_cost ?? undefined,
      };
    },
    enabled: access !== undefined && runId !== undefined,
    staleTime: 60_000,
    retry: false,
    refetchInterval: ({ state: { data, dataUpdateCount } }) =>
      data?.isComplete === false && dataUpdateCount < readsMax ? pollMs : false,
  });
  return query.data;
};

interface TurnUsage {
  input: number;
  output: number;
  /** In dollars, where the messages have it. */
  cost: number | undefined;
}

const messageCost = ({ raw }: Message): number | undefined => {
  const usage = 'usage_metadata' in raw ? raw.usage_metadata : undefined;
  const cost = isObject(usage) ? usage['total_cost'] : undefined;
  return typeof cost === 'number' ? cost : undefined;
};

/** The usage of the messages behind the last one of the person. Undefined where no message has one. */
export const turnUsage = (messages: readonly Message[]): TurnUsage | undefined => {
  const turn = messages.slice(messages.findLastIndex(({ kind }) => kind === 'human') + 1);
  let total: TurnUsage | undefined;
  for (const message of turn) {
    if (!message.usage) continue;
    const { input = 0, output = 0, cost } = total ?? {};
    const added = messageCost(message);
    total = {
      input: input + message.usage.input,
      output: output + message.usage.output,
      cost: added === undefined ? cost : (cost ?? 0) + added,
    };
  }
  return total;
};
