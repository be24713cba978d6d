// Exports of a workspace, the newest first. The filter is the query string.
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useDestinations } from '../platform/destinations.ts';
import { exportStatuses, statusLabels } from '../platform/export-status.ts';
import { ExportTabs } from '../platform/export-tabs.tsx';
import {
  AdminButton,
  exportNeed,
  ForgetKey,
  KeyForm,
  KeyGate,
  needsOtherKey,
} from '../platform/key-gate.tsx';
import { ProjectSelect } from '../platform/projects.tsx';
import { useReadOnly } from '../platform/workspaces.ts';
import { FilterSelect, StatusChips } from '../ui/filters.tsx';
import { Icon } from '../ui/icons.tsx';
import { pageNumber, Pager, pageText } from '../ui/paging.tsx';
import { Loaded, NoMatch, State } from '../ui/states.tsx';
import { type ExportFilter, useExports } from './export-queries.ts';
import { ExportTable } from './export-table.tsx';
import './exports.css';

const route = getRouteApi('/exports');

export const ExportsPage = (): ReactNode => (
  <div className="page">
    <KeyGate need={exportNeed}>
      <Exports />
    </KeyGate>
  </div>
);

const Exports = (): ReactNode => {
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const query = useExports(filter);
  const readOnly = useReadOnly();
  const change = (changed: ExportFilter): void =>
    void navigate({ search: { ...filter, page: undefined, ...changed }, replace: true });
  if (needsOtherKey(query.error)) return <KeyForm need={exportNeed} refusal={query.error} />;
  return (
    <>
      <header className="page-head">
        <h1>Exports</h1>
        <ExportTabs />
        <div className="page-actions">
          <ForgetKey />
          <AdminButton readOnly={readOnly} onPress={() => void navigate({ to: '/exports/new' })}>
            <Icon name="plus" size={14} /> New export…
          </AdminButton>
        </div>
      </header>
      <Filters filter={filter} onChange={change} />
      <div className="page-body" tabIndex={0} role="region" aria-label="Exports">
        <Loaded query={query}>
          {(rows) => <ExportTable exports={rows} empty={<NoExports filter={filter} />} />}
        </Loaded>
        <Pager
          page={pageNumber(filter.page)}
          count={query.data?.length}
          onPage={(next) => change({ page: pageText(next) })}
        />
      </div>
    </>
  );
};

const NoExports = ({ filter }: { filter: ExportFilter }): ReactNode =>
  Object.values(filter).some((value) => value !== undefined) ? (
    <NoMatch noun="export" to="/exports" />
  ) : (
    <State icon="exports" title="There are no exports yet">
      <p className="muted">
        An export writes the traces of a project to Parquet files, in a bucket or a folder of the server.
      </p>
      <Link to="/exports/new" className="button" data-kind="primary">
        Create an export
      </Link>
    </State>
  );

const Filters = ({
  filter,
  onChange,
}: {
  filter: ExportFilter;
  onChange: (changed: ExportFilter) => void;
}): ReactNode => {
  const { data: destinations = [] } = useDestinations();
  return (
    <div className="filters" role="search" aria-label="Filter of exports">
      <StatusChips
        statuses={exportStatuses}
        names={statusLabels}
        chosen={filter.status}
        onChange={(status) => onChange({ status })}
      />
      <ProjectSelect project={filter.project} onChange={(project) => onChange({ project })} />
      <FilterSelect
        label="Destination"
        all="All destinations"
        choices={destinations.map(({ id, display_name: name }) => [id, name])}
        chosen={filter.destination}
        onChange={(destination) => onChange({ destination })}
      />
      {filter.schedule !== undefined && (
        <button type="button" className="chip" onClick={() => onChange({ schedule: undefined })}>
          of the schedule {filter.schedule.slice(0, 8)} ×
        </button>
      )}
    </div>
  );
};
