// Exports that have failed at a destination, or are retried there, with the error of the store: Home and the pages of exports lead here for them.
import type { BulkExport, PlatformClient } from '@svc/sdk';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import {
  isOpenExport,
  progressTones,
  readRetryErrors,
  statusLabels,
  statusOf,
} from '../platform/export-status.ts';
import { usePlatformQuery } from '../platform/platform-access.ts';
import { Panel } from '../ui/panel.tsx';
import { ErrorNotice } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';

const shownMax = 5;
const readMs = 5_000;

interface FailingExport {
  found: BulkExport;
  error: string;
}

const readFailures = async (
  client: PlatformClient,
  destinationId: string,
  signal: AbortSignal,
): Promise<FailingExport[]> => {
  const newest = (status: string[]): Promise<BulkExport[]> =>
    client.exports.list({ status, bulk_export_destination_id: destinationId, limit: shownMax }, { signal });
  const [open, failed] = await Promise.all([newest(['created', 'running']), newest(['failed', 'timedout'])]);
  const errors = await readRetryErrors(client, open, signal);
  return [
    ...open.flatMap((found, at) => {
      const error = errors[at];
      return error === undefined ? [] : [{ found, error }];
    }),
    ...failed.map((found) => ({ found, error: found.error ?? unnamed(found) })),
  ];
};

const unnamed = ({ status }: BulkExport): string =>
  status === 'TIMEDOUT' ? 'The export has timed out.' : 'The export has failed.';

export const Failures = ({ destinationId }: { destinationId: string }): ReactNode => {
  const { data, error } = usePlatformQuery({
    queryKey: ['exports', 'destinations', destinationId, 'failures'],
    read: (client, call) => readFailures(client, destinationId, call.signal),
    refetchInterval: readMs,
  });
  if (data === undefined) return <ErrorNotice error={error} />;
  if (data.length === 0) return null;
  return (
    <Panel
      title="Newest failures here"
      label="Newest failures"
      aside={
        <Link
          to="/exports"
          search={{ destination: destinationId, status: ['created', 'running', 'failed', 'timedout'] }}
          className="spread"
        >
          Open and failed exports
        </Link>
      }
    >
      <ul>
        {data.map((failure) => (
          <Failure key={failure.found.id} {...failure} />
        ))}
      </ul>
    </Panel>
  );
};

const Failure = ({ found, error }: FailingExport): ReactNode => {
  const { id, finished_at: finished, updated_at: updated } = found;
  const isRetried = isOpenExport(found);
  const status = statusOf(found);
  return (
    <li className="failure pad">
      <p className="row">
        <span className="badge" data-tone={isRetried ? 'amber' : progressTones[status]}>
          {isRetried ? 'retrying' : statusLabels[status]}
        </span>
        <Link
          to="/exports/$exportId"
          params={{ exportId: id }}
          data-row
          className="mono"
          aria-label={`Export ${id}`}
        >
          {id.slice(0, 8)}
        </Link>
        {!isRetried && (
          <span className="muted spread">
            <Ago at={finished ?? updated} />
          </span>
        )}
      </p>
      <p>{visibleText(error)}</p>
    </li>
  );
};
