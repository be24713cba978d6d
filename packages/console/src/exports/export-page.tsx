// One export: its progress, its partition runs with their retries, its events, its files and its manifest.
import type { BulkExport, ExportEvent } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { MissingExport } from '../app/missing.tsx';
import { isOpenExport, progressTones, statusOf } from '../platform/export-status.ts';
import { AdminButton, exportNeed, KeyForm, KeyGate, needsOtherKey } from '../platform/key-gate.tsx';
import { usePlatform } from '../platform/platform-access.ts';
import { useReadOnly } from '../platform/workspaces.ts';
import { CopyId, CopyText } from '../ui/copy.tsx';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { AskFirst } from '../ui/dialog.tsx';
import { Icon } from '../ui/icons.tsx';
import { countOf, countText, sizeOf } from '../ui/number-text.ts';
import { LoadedPages } from '../ui/paging.tsx';
import { ProgressBar } from '../ui/progress-bar.tsx';
import { Loaded, State } from '../ui/states.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { JsonTree } from '../values/json-tree.tsx';
import { ExportBadge } from './export-badge.tsx';
import { ExportFiles } from './export-files.tsx';
import { ExportOverview } from './export-overview.tsx';
import { useExport, useExportEvents, useManifest } from './export-queries.ts';
import { shareOf } from './export-share.ts';
import { PartitionRuns } from './partition-runs.tsx';
import './exports.css';

const route = getRouteApi('/exports/$exportId');

export const ExportPage = (): ReactNode => (
  <div className="page">
    <KeyGate need={exportNeed}>
      <ReadExport />
    </KeyGate>
  </div>
);

const ReadExport = (): ReactNode => {
  const { exportId } = route.useParams();
  const query = useExport(exportId);
  if (needsOtherKey(query.error)) return <KeyForm need={exportNeed} refusal={query.error} />;
  return (
    <Loaded query={query} missing={MissingExport}>
      {(found) => <ExportView found={found} />}
    </Loaded>
  );
};

const tabs = [
  { name: 'days', label: 'Days' },
  { name: 'events', label: 'Events' },
  { name: 'files', label: 'Files' },
  { name: 'manifest', label: 'Manifest' },
  { name: 'request', label: 'Request' },
] as const;

const ExportView = ({ found }: { found: BulkExport }): ReactNode => {
  const { tab = 'days' } = route.useSearch();
  const navigate = route.useNavigate();
  const isSchedule = statusOf(found) === 'intervalscheduled';
  return (
    <>
      <header className="page-head" data-tabs>
        <h1>Export</h1>
        <CopyId id={found.id} label="export id" />
        <ExportBadge of={found} />
        <Actions found={found} />
      </header>
      {!isSchedule && <Summary found={found} />}
      {found.error !== null && (
        <div className="pad">
          <div className="notice" data-tone="red" role="alert">
            <Icon name="warning" />
            <span className="notice-text">{visibleText(found.error)}</span>
            <Link
              to="/destinations/$destinationId"
              params={{ destinationId: found.bulk_export_destination_id }}
            >
              Open the destination
            </Link>
          </div>
        </div>
      )}
      <Tabs
        label="Parts of the export"
        tabs={tabs}
        active={tab}
        onChange={(next) => void navigate({ search: { tab: next }, replace: true })}
      />
      <div className="page-body" tabIndex={0} role="region" aria-label={tab}>
        {tab === 'days' && <PartitionRuns found={found} />}
        {tab === 'events' && <ExportEvents found={found} />}
        {tab === 'files' && <ExportFiles found={found} />}
        {tab === 'manifest' && <ExportManifestView found={found} />}
        {tab === 'request' && (
          <div className="pad stack">
            <ExportOverview found={found} />
            <JsonTree value={found} openDepth={2} />
          </div>
        )}
      </div>
    </>
  );
};

const Summary = ({ found }: { found: BulkExport }): ReactNode => {
  const { progress } = found;
  const share = shareOf(found);
  const rate = isOpenExport(found) ? progress.rows_per_second : null;
  return (
    <div className="export-summary">
      <ProgressBar
        value={share.value}
        max={share.max}
        label="Progress"
        tone={progressTones[statusOf(found)]}
      />
      <p className="muted">
        {[
          share.text ?? false,
          `${countOf(progress.runs_completed)} of ${countText(progress.runs_total, 'day')}`,
          progress.runs_running > 0 && `${countOf(progress.runs_running)} running`,
          progress.runs_failed > 0 && `${countOf(progress.runs_failed)} failed`,
          countText(progress.rows_written, 'row'),
          countText(progress.files, 'file'),
          sizeOf(progress.bytes_written),
          rate !== null && `${countOf(Math.round(rate))} rows/s`,
        ]
          .filter((text) => text !== false)
          .join(' · ')}
      </p>
    </div>
  );
};

const Actions = ({ found }: { found: BulkExport }): ReactNode => {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const readOnly = useReadOnly();
  const client = usePlatform();
  const cancel = useMutation({
    mutationFn: () => client.exports.cancel(found.id),
    // If the export has ended meanwhile, the page shows its final state.
    onSettled: () => queries.invalidateQueries({ queryKey: ['exports'] }),
  });
  const isSchedule = statusOf(found) === 'intervalscheduled';
  const what = isSchedule ? 'schedule' : 'export';
  const again = {
    to: '/exports/new',
    search: { destination: found.bulk_export_destination_id, project: found.session_id, from: found.id },
  } as const;
  return (
    <div className="page-actions">
      {isSchedule && (
        <Link to="/exports" search={{ schedule: found.id }} className="button">
          Its exports
        </Link>
      )}
      <AdminButton readOnly={readOnly} onPress={() => void navigate(again)}>
        Export again…
      </AdminButton>
      {(isOpenExport(found) || isSchedule) && (
        <AskFirst
          trigger={(ask) => (
            <AdminButton readOnly={readOnly} kind="danger" onPress={ask}>
              <Icon name="stop" size={14} /> Cancel…
            </AdminButton>
          )}
          title={`Cancel this ${what}?`}
          action={`Cancel the ${what}`}
          request={cancel}
        >
          <p>
            {isSchedule
              ? 'It creates no more exports. The exports that it has created continue.'
              : 'Uploads stop within seconds. Files that exist stay, without a manifest.'}{' '}
            This cannot be undone.
          </p>
        </AskFirst>
      )}
    </div>
  );
};

const ExportManifestView = ({ found }: { found: BulkExport }): ReactNode => {
  const query = useManifest(found);
  if (statusOf(found) !== 'completed')
    return (
      <State icon="empty" title="There is no manifest">
        <p className="muted">
          {isOpenExport(found)
            ? 'It is written last, when all other files exist.'
            : 'Only a completed export has one.'}
        </p>
      </State>
    );
  return (
    <Loaded query={query}>
      {(manifest) => (
        <div className="pad stack">
          <p>
            <CopyText text={JSON.stringify(manifest, undefined, 2)} shown="Copy the manifest as JSON" />
          </p>
          <JsonTree value={manifest} openDepth={1} />
        </div>
      )}
    </Loaded>
  );
};

const columns: readonly Column<ExportEvent>[] = [
  { name: 'When', cell: ({ at }) => <Ago at={at} /> },
  { name: 'Event', className: 'mono', cell: ({ type }) => type },
  { name: 'Partition run', className: 'mono', cell: (event) => event.run_id?.slice(0, 8) },
  {
    name: 'Message',
    className: 'wide',
    title: ({ message }) => message,
    cell: ({ message }) => visibleText(message),
  },
];

/** The history of an export, the oldest event first. */
const ExportEvents = ({ found }: { found: BulkExport }): ReactNode => (
  <LoadedPages query={useExportEvents(found)} rowsOf={(events) => events} more="Load later events">
    {(events) => <DataTable rows={events} columns={columns} keyOf={({ id }) => id} />}
  </LoadedPages>
);
