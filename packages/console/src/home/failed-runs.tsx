// Runs that have failed in the last day, and crons whose newest runs have all failed.
import type { Client, Cron, Run } from '@svc/sdk';
import { Link } from '@tanstack/react-router';
import { useServerQuery } from '../api/client.tsx';
import { countText } from '../ui/number-text.ts';
import { dayMs, type Finding, type Findings, findingsMs } from './finding.tsx';

const failedMax = 100;
/** The newest runs are read of so many crons at most. */
const examinedCronsMax = 5;
/** Of a cron: one failed run between others is no finding of its own. */
const newestOfCron = 3;

interface Failures {
  runs: Run[];
  from: string;
  crons: CronFailures[];
}

const read = async (client: Client, signal: AbortSignal): Promise<Failures> => {
  const from = new Date(Date.now() - dayMs).toISOString();
  const runs = await client.runs.search(
    {
      status: ['error', 'timeout'],
      ended_after: from,
      limit: failedMax,
      select: ['run_id', 'thread_id', 'assistant_id', 'status', 'error', 'metadata'],
    },
    { signal },
  );
  const cronIds = new Set(
    runs.flatMap(({ metadata: { cron_id: id } }) => (typeof id === 'string' ? [id] : [])),
  );
  const newest = await Promise.all(
    [...cronIds].slice(0, examinedCronsMax).map(async (cronId) => ({
      cronId,
      runs: await client.runs.search(
        {
          metadata: { cron_id: cronId },
          status: ['success', 'error', 'timeout', 'interrupted'],
          limit: newestOfCron,
          select: ['run_id', 'status', 'error'],
        },
        { signal },
      ),
    })),
  );
  return { runs: runs.filter(isFailed), from, crons: failedCrons(newest, newestOfCron) };
};

export const useFailedRuns = (): Findings => {
  const query = useServerQuery({
    queryKey: ['runs', 'failed in the last day'],
    read: (client, call) => read(client, call.signal),
    refetchInterval: findingsMs,
  });
  return {
    found: query.data && [...runsFinding(query.data), ...query.data.crons.map(cronFinding)],
    error: query.error,
  };
};

const reasonOf = ({ error }: Pick<Run, 'error'>): string | undefined =>
  error && `${error.error}: ${error.message}`;

const runsFinding = ({ runs, from }: Failures): Finding[] => {
  const [newest] = runs;
  if (!newest) return [];
  const { run_id: runId, thread_id: thread } = newest;
  return [
    {
      key: 'failed runs',
      tone: 'red',
      sentence: `${countText(runs.length, 'run', { hasMore: runs.length === failedMax })} failed in the last day`,
      reason: reasonOf(newest),
      links: (
        <>
          {runs.length > 1 && (
            <Link to="/runs" search={{ status: ['error', 'timeout'], ended_from: from }} className="button">
              Open the failed runs
            </Link>
          )}
          <Link to="/runs/$runId" params={{ runId }} search={{ thread }} className="button">
            {runs.length > 1 ? 'Open the newest' : 'Open the failed run'}
          </Link>
        </>
      ),
    },
  ];
};

const cronFinding = ({ cronId, runs }: CronFailures): Finding => ({
  key: `failed runs of cron ${cronId}`,
  tone: 'red',
  sentence: `The last ${runs.length} runs of cron ${cronId.slice(0, 8)} have failed`,
  reason: runs[0] && reasonOf(runs[0]),
  links: (
    <Link to="/crons/$cronId" params={{ cronId }} className="button">
      Open the cron
    </Link>
  ),
});

export interface CronFailures {
  cronId: string;
  /** The newest first. */
  runs: Pick<Run, 'status' | 'error'>[];
}

const isFailed = ({ status }: Pick<Run, 'status'>): boolean => status === 'error' || status === 'timeout';

/** The crons that have so many ended runs, of which the newest have all failed. */
export const failedCrons = (newest: readonly CronFailures[], count: number): CronFailures[] =>
  newest.filter(({ runs }) => runs.length === count && runs.every(isFailed));

const cronsMax = 100;
const shownMax = 5;

/** Crons that created no run at their last tick, and crons that the server has disabled. */
export const useFailingCrons = (): Findings => {
  const query = useServerQuery({
    queryKey: ['crons', 'failing'],
    read: (client, call) =>
      client.crons.search(
        { limit: cronsMax, select: ['cron_id', 'schedule', 'enabled', 'last_error'] },
        call,
      ),
    refetchInterval: findingsMs,
  });
  const { data, error } = query;
  return {
    found: data
      ?.filter(({ last_error: reason }) => reason !== null)
      .slice(0, shownMax)
      .map(findingOf),
    error,
    unexamined: data?.length === cronsMax ? `Only the newest ${cronsMax} crons were examined.` : undefined,
  };
};

const findingOf = ({
  cron_id: cronId,
  schedule,
  enabled,
  last_error: reason,
}: Pick<Cron, 'cron_id' | 'schedule' | 'enabled' | 'last_error'>): Finding => ({
  key: `cron ${cronId}`,
  tone: 'red',
  sentence: enabled
    ? `The last tick of the cron ${schedule} created no run`
    : `The server has disabled the cron ${schedule}`,
  reason: reason ?? undefined,
  links: (
    <Link to="/crons/$cronId" params={{ cronId }} className="button">
      Open the cron
    </Link>
  ),
});
