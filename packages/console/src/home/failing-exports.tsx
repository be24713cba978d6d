// Exports that have failed in the last day, and those that are retried after an error, by destination.
import type { BulkExport, PlatformClient } from '@svc/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type ExportStatus, isOpenExport, readRetryErrors, statusOf } from '../platform/export-status.ts';
import { useAccess } from '../platform/platform-access.ts';
import { countText } from '../ui/number-text.ts';
import { dayMs, type Finding, type Findings, findingsMs } from './finding.tsx';

const exportsMax = 50;
/** How many open exports are examined. */
const openMax = 5;
const destinationsMax = 5;

const readStatuses: ExportStatus[] = ['created', 'running', 'completed', 'failed', 'timedout'];

interface Failing {
  destinationId: string;
  isRetried: boolean;
  exports: BulkExport[];
  reason: string;
}

interface ExportWithReason {
  found: BulkExport;
  reason: string;
}

/** The reason of a group is that of its first export. */
const byDestination = (failures: readonly ExportWithReason[], isRetried: boolean): Failing[] => {
  const groups = new Map<string, Failing>();
  for (const { found, reason } of failures) {
    const { bulk_export_destination_id: destinationId } = found;
    const group = groups.get(destinationId) ?? { destinationId, isRetried, exports: [], reason };
    group.exports.push(found);
    groups.set(destinationId, group);
  }
  return [...groups.values()];
};

const endedMsOf = ({ finished_at: finished, updated_at: updated }: BulkExport): number =>
  Date.parse(finished ?? updated);

/** Failures that ended before the newest success of their destination are over. */
export const failedByDestination = (exports: readonly BulkExport[], nowMs: number): Failing[] => {
  const succeededMs = new Map<string, number>();
  for (const found of exports) {
    const { bulk_export_destination_id: destination } = found;
    if (statusOf(found) === 'completed')
      succeededMs.set(destination, Math.max(succeededMs.get(destination) ?? 0, endedMsOf(found)));
  }
  const failed = exports.filter((found) => {
    const status = statusOf(found);
    const endedMs = endedMsOf(found);
    return (
      (status === 'failed' || status === 'timedout') &&
      endedMs > (succeededMs.get(found.bulk_export_destination_id) ?? 0) &&
      endedMs >= nowMs - dayMs
    );
  });
  const lastEndedFirst = failed.toSorted((a, b) => endedMsOf(b) - endedMsOf(a));
  return byDestination(
    lastEndedFirst.map((found) => ({ found, reason: found.error ?? 'The export has timed out.' })),
    false,
  );
};

const readRetried = async (
  client: PlatformClient,
  open: readonly BulkExport[],
  signal: AbortSignal,
): Promise<Failing[]> => {
  const errors = await readRetryErrors(client, open, signal);
  const retried = open.flatMap((found, index) => {
    const reason = errors[index];
    return reason === undefined ? [] : [{ found, reason }];
  });
  return byDestination(retried, true);
};

const readFailing = async (
  client: PlatformClient,
  signal: AbortSignal,
): Promise<(Failing & { destination: string })[]> => {
  const exports = await client.exports.list({ status: readStatuses, limit: exportsMax }, { signal });
  const retried = await readRetried(client, exports.filter(isOpenExport).slice(0, openMax), signal);
  const failing = [...failedByDestination(exports, Date.now()), ...retried].slice(0, destinationsMax);
  return Promise.all(
    failing.map(async (group) => {
      const { display_name: destination } = await client.destinations.get(group.destinationId, { signal });
      return { ...group, destination };
    }),
  );
};

/** Undefined without the key of a workspace, which the routes of exports need. */
export const useFailingExports = (): Findings | undefined => {
  const access = useAccess();
  const query = useQuery({
    enabled: access !== undefined,
    queryKey: ['exports', 'failing', access?.workspaceId],
    queryFn: ({ signal }) => (access ? readFailing(access.client, signal) : []),
    refetchInterval: findingsMs,
  });
  return access && { found: query.data?.map(findingOf), error: query.error };
};

const findingOf = ({
  destinationId,
  isRetried,
  exports,
  reason,
  destination,
}: Failing & { destination: string }): Finding => {
  const isOne = exports.length === 1;
  const outcome = isRetried ? `${isOne ? 'is' : 'are'} retried after an error` : 'failed in the last day';
  return {
    key: `exports ${isRetried ? 'retried' : 'failed'} ${destinationId}`,
    tone: isRetried ? 'amber' : 'red',
    sentence: `${countText(exports.length, 'export')} to ${destination} ${outcome}`,
    reason,
    links: (
      <>
        <ExportsLink destinationId={destinationId} isRetried={isRetried} exports={exports} />
        <Link to="/destinations/$destinationId" params={{ destinationId }} className="button">
          Open the destination
        </Link>
      </>
    ),
  };
};

const ExportsLink = ({
  destinationId,
  isRetried,
  exports,
}: Pick<Failing, 'destinationId' | 'isRetried' | 'exports'>): ReactNode => {
  const [first] = exports;
  if (first && exports.length === 1)
    return (
      <Link to="/exports/$exportId" params={{ exportId: first.id }} className="button">
        Open the export
      </Link>
    );
  const status: ExportStatus[] = isRetried ? ['created', 'running'] : ['failed', 'timedout'];
  return (
    <Link to="/exports" search={{ status, destination: destinationId }} className="button">
      Open the exports
    </Link>
  );
};
