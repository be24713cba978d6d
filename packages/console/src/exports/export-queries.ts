// What the pages of exports read. Exports have no stream: unfinished ones are read again every two seconds while the tab is visible.
import { usePlatform, usePlatformQuery } from '../platform/platform-access.ts';
import { keepPreviousData, type UseQueryResult } from '@tanstack/react-query';
import type { BulkExport, ExportEvent, ExportManifest, ExportRun } from '@svc/sdk';
import { usePagedQuery, type PagedQuery } from '../api/paged-query.ts';
import { isOpenExport, type ExportStatus } from '../platform/export-status.ts';
import { pageNumber, pageSize } from '../ui/paging.tsx';

export interface ExportFilter {
  status?: ExportStatus[] | undefined;
  project?: string | undefined;
  destination?: string | undefined;
  schedule?: string | undefined;
  page?: string | undefined;
}

const openMs = 2_000;
const listMs = 5_000;

const offsetOf = (page: string | undefined): number => (pageNumber(page) - 1) * pageSize;

/** The newest first. */
export const useExports = (filter: ExportFilter): UseQueryResult<BulkExport[]> =>
  usePlatformQuery({
    queryKey: ['exports', 'list', filter],
    read: (client, call) =>
      client.exports.list(
        {
          ...(filter.status && { status: filter.status }),
          ...(filter.project && { session_id: filter.project }),
          ...(filter.destination && { bulk_export_destination_id: filter.destination }),
          ...(filter.schedule && { source_bulk_export_id: filter.schedule }),
          limit: pageSize,
          offset: offsetOf(filter.page),
        },
        call,
      ),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) => (data?.some(isOpenExport) ? openMs : listMs),
  });

export const useExport = (id: string): UseQueryResult<BulkExport> =>
  usePlatformQuery({
    queryKey: ['exports', 'one', id],
    read: (client, call) => client.exports.get(id, call),
    refetchInterval: ({ state: { data } }) => (data && isOpenExport(data) ? openMs : false),
  });

/** What belongs to an export is read once more after its end: its key contains the status. */
const partOf = (found: BulkExport, name: string) => ['exports', 'one', found.id, name, found.status] as const;

const whileOpen = (found: BulkExport) => (isOpenExport(found) ? openMs : (false as const));

/** One page of the partition runs, in the order of time. */
export const usePartitionRuns = (
  found: BulkExport,
  { page, status }: { page?: string | undefined; status?: ExportStatus[] | undefined },
): UseQueryResult<ExportRun[]> =>
  usePlatformQuery({
    queryKey: [...partOf(found, 'runs'), page, status],
    read: (client, call) =>
      client.exports.runs(
        found.id,
        { ...(status && { status }), limit: pageSize, offset: offsetOf(page) },
        call,
      ),
    placeholderData: keepPreviousData,
    refetchInterval: whileOpen(found),
  });

const eventsMax = 200;
/** All loaded pages are read again at once. */
const polledPagesMax = 5;

/** Pages of events, the oldest first. */
export const useExportEvents = (found: BulkExport): PagedQuery<ExportEvent[]> => {
  const client = usePlatform();
  return usePagedQuery({
    queryKey: partOf(found, 'events'),
    read: (after: number = 0, call) => client.exports.events(found.id, { after, limit: eventsMax }, call),
    next: (page) => (page.length === eventsMax ? page.at(-1)?.id : undefined),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      (state.data?.pages.length ?? 0) <= polledPagesMax ? whileOpen(found) : false,
  });
};

export const useManifest = (found: BulkExport): UseQueryResult<ExportManifest> =>
  usePlatformQuery({
    queryKey: partOf(found, 'manifest'),
    read: (client, call) => client.exports.manifest(found.id, call),
    enabled: found.status.toUpperCase() === 'COMPLETED',
    staleTime: Infinity,
  });
