// Crons whose last tick created no run, and crons that the server has disabled.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Cron } from '@svc/sdk';
import { useClient } from '../api/client.tsx';
import { findingsMs, type Finding, type Findings } from './finding.tsx';

const cronsMax = 100;
const shownMax = 5;

export const useFailingCrons = (): Findings => {
  const client = useClient();
  const query = useQuery({
    queryKey: ['crons', 'failing'],
    queryFn: ({ signal }) =>
      client.crons.search(
        { limit: cronsMax, select: ['cron_id', 'schedule', 'enabled', 'last_error'] },
        { signal },
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
