// Creates an export, or a schedule of exports. A dry run shows what it would write.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import type { ExportPlan, PlatformClient } from '@svc/sdk';
import { useState, type ReactNode } from 'react';
import { AdminButton } from '../platform/admin-button.tsx';
import { useDestinations } from '../platform/destinations.ts';
import { KeyForm, KeyGate, needsOtherKey, newExportNeed } from '../platform/key-gate.tsx';
import { useProjects } from '../platform/projects.ts';
import { useReadOnly } from '../platform/workspaces.ts';
import { faultsOf, withFaults } from '../ui/faults.ts';
import { FormProblems } from '../ui/form-field.tsx';
import { Failure, Skeleton } from '../ui/states.tsx';
import {
  draftOf,
  emptyDraft,
  exportPaths,
  missingChoices,
  requestOf,
  type ExportDraft,
} from './export-draft.ts';
import { ExportFields } from './export-fields.tsx';
import { countOf, plural } from './sizes.ts';
import './exports.css';

const route = getRouteApi('/exports/new');

export const NewExportPage = (): ReactNode => (
  <div className="page">
    <KeyGate need={newExportNeed}>{(client) => <NewExport client={client} />}</KeyGate>
  </div>
);

/** Reads the export that is made again, if the address names one. */
const NewExport = ({ client }: { client: PlatformClient }): ReactNode => {
  const { from, project, destination } = route.useSearch();
  const earlier = useQuery({
    queryKey: ['exports', 'one', from],
    queryFn: ({ signal }) => client.exports.get(from ?? '', { signal }),
    enabled: from !== undefined,
  });
  if (needsOtherKey(earlier.error)) return <KeyForm need={newExportNeed} refusal={earlier.error} />;
  if (earlier.error) return <Failure error={earlier.error} onRetry={() => void earlier.refetch()} />;
  if (from !== undefined && earlier.data === undefined) return <Skeleton />;
  const draft = earlier.data ? draftOf(earlier.data) : emptyDraft(Date.now());
  const given = {
    ...draft,
    project: project ?? draft.project,
    destination: destination ?? draft.destination,
  };
  return <ExportForm key={from} client={client} given={given} />;
};

/** Chooses the project and the destination where there is only one. */
const useOnlyChoices = (client: PlatformClient, draft: ExportDraft): ExportDraft => {
  const { data: projects = [] } = useProjects(client);
  const { data: destinations = [] } = useDestinations(client);
  const only = (found: readonly { id: string }[]): string => (found.length === 1 ? (found[0]?.id ?? '') : '');
  return {
    ...draft,
    project: draft.project || only(projects),
    destination: draft.destination || only(destinations),
  };
};

const ExportForm = ({ client, given }: { client: PlatformClient; given: ExportDraft }): ReactNode => {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const readOnly = useReadOnly();
  const [edited, setDraft] = useState(given);
  const draft = useOnlyChoices(client, edited);
  const [hasAsked, setAsked] = useState(false);
  const missing = missingChoices(draft);
  const validate = useMutation({ mutationFn: () => client.exports.validate(requestOf(draft)) });
  const create = useMutation({
    mutationFn: () => client.exports.create(requestOf(draft)),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: ['exports'] });
      await navigate({ to: '/exports/$exportId', params: { exportId: id } });
    },
  });
  const isBusy = validate.isPending || create.isPending;
  const found = faultsOf(create.error ?? validate.error, exportPaths);
  const faults = hasAsked ? withFaults(found, missing) : found;
  const change = (changed: Partial<ExportDraft>): void => {
    setDraft({ ...edited, ...changed });
    // A plan and sentences that belong to another request would mislead.
    validate.reset();
    create.reset();
  };
  const send = (request: typeof validate | typeof create, other: typeof validate | typeof create): void => {
    setAsked(true);
    other.reset();
    if (missing.size === 0) request.mutate();
  };
  return (
    <>
      <header className="page-head">
        <h1>New export</h1>
        <div className="page-actions">
          <Link to="/exports" className="button">
            All exports
          </Link>
        </div>
      </header>
      <div className="page-body pad" tabIndex={0} role="region" aria-label="New export">
        <form
          className="form"
          onSubmit={(event) => {
            event.preventDefault();
            if (!isBusy) send(validate, create);
          }}
        >
          <ExportFields client={client} draft={draft} faults={faults} onChange={change} />
          <FormProblems sentences={faults.rest} />
          {validate.data && <Plan plan={validate.data} isSchedule={draft.isSchedule} />}
          <div className="row">
            <button type="submit" className="button" disabled={isBusy}>
              Dry run
            </button>
            <AdminButton
              readOnly={readOnly}
              kind="primary"
              isBusy={isBusy}
              onPress={() => send(create, validate)}
            >
              {draft.isSchedule ? 'Create the schedule' : 'Create the export'}
            </AdminButton>
            {readOnly !== undefined && <span className="muted">{readOnly}.</span>}
          </div>
        </form>
      </div>
    </>
  );
};

const Plan = ({ plan, isSchedule }: { plan: ExportPlan; isSchedule: boolean }): ReactNode => {
  const { partitions, estimated_rows: rows, is_exact: isExact } = plan;
  const first = partitions.at(0)?.start_time.slice(0, 10);
  const last = partitions.at(-1)?.start_time.slice(0, 10);
  return (
    <div className="notice" data-tone="blue" role="status">
      <span>
        {isSchedule ? 'The first window' : 'The export'} has {plural(partitions.length, 'day')}
        {first !== undefined && ` (${first === last ? first : `${first} to ${last}`})`} and{' '}
        {isExact ? '' : 'about '}
        {rows === 1 ? '1 row' : `${countOf(rows)} rows`}. Nothing has been created.
      </span>
    </div>
  );
};
