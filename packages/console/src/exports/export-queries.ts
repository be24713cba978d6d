// What the pages of exports read. Exports have no stream: unfinished ones are read again every two seconds while the tab is visible.
import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { BulkExport, ExportEvent, ExportManifest, ExportRun, PlatformClient } from '@svc/sdk';
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
export const useExports = (client: PlatformClient, filter: ExportFilter): UseQueryResult<BulkExport[]> =>
  useQuery({
    queryKey: ['exports', 'list', filter],
    queryFn: ({ signal }) =>
      client.exports.list(
        {
          ...(filter.status && { status: filter.status }),
          ...(filter.project && { session_id: filter.project }),
          ...(filter.destination && { bulk_export_destination_id: filter.destination }),
          ...(filter.schedule && { source_bulk_export_id: filter.schedule }),
          limit: pageSize,
          offset: offsetOf(filter.page),
        },
        { signal },
      ),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) => (data?.some(isOpenExport) ? openMs : listMs),
  });

export const useExport = (client: PlatformClient, id: string): UseQueryResult<BulkExport> =>
  useQuery({
    queryKey: ['exports', 'one', id],
    queryFn: ({ signal }) => client.exports.get(id, { signal }),
    refetchInterval: ({ state: { data } }) => (data && isOpenExport(data) ? openMs : false),
  });

/** What belongs to an export is read once more after its end: its key contains the status. */
const partOf = (found: BulkExport, name: string) => ['exports', 'one', found.id, name, found.status] as const;

const whileOpen = (found: BulkExport) => (isOpenExport(found) ? openMs : (false as const));

/** One page of the partition runs, in the order of time. */
export const usePartitionRuns = (
  client: PlatformClient,
  found: BulkExport,
  { page, status }: { page?: string | undefined; status?: ExportStatus[] | undefined },
): UseQueryResult<ExportRun[]> =>
  useQuery({
    queryKey: [...partOf(found, 'runs'), page, status],
    queryFn: ({ signal }) =>
      client.exports.runs(
        found.id,
        { ...(status && { status }), limit: pageSize, offset: offsetOf(page) },
        { signal },
      ),
    placeholderData: keepPreviousData,
    refetchInterval: whileOpen(found),
  });

const eventsMax = 200;
/** All loaded pages are read again at once. */
const polledPagesMax = 5;

/** Pages of events, the oldest first. */
export const useExportEvents = (client: PlatformClient, found: BulkExport): PagedQuery<ExportEvent[]> =>
  usePagedQuery({
    queryKey: partOf(found, 'events'),
    read: (after: number = 0, call) => client.exports.events(found.id, { after, limit: eventsMax }, call),
    next: (page) => (page.length === eventsMax ? page.at(-1)?.id : undefined),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      (state.data?.pages.length ?? 0) <= polledPagesMax ? whileOpen(found) : false,
  });

export const useManifest = (client: PlatformClient, found: BulkExport): UseQueryResult<ExportManifest> =>
  useQuery({
    queryKey: partOf(found, 'manifest'),
    queryFn: ({ signal }) => client.exports.manifest(found.id, { signal }),
    enabled: found.status.toUpperCase() === 'COMPLETED',
    staleTime: Infinity,
  });
