// Creates an export, or a schedule of exports. A dry run shows what it would write.
import type { BulkExport, ExportPlan } from '@svc/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useDestinations } from '../platform/destinations.ts';
import { FormPage } from '../platform/form-page.tsx';
import { KeyForm, KeyGate, needsOtherKey, newExportNeed } from '../platform/key-gate.tsx';
import { usePlatform, usePlatformQuery } from '../platform/platform-access.ts';
import { useProjects } from '../platform/projects.tsx';
import { useForm } from '../ui/form.tsx';
import { countOf, countText } from '../ui/number-text.ts';
import { Failure, Skeleton } from '../ui/states.tsx';
import {
  draftOf,
  emptyDraft,
  type ExportDraft,
  exportPaths,
  missingChoices,
  requestOf,
} from './export-draft.ts';
import { ExportFields } from './export-fields.tsx';
import './exports.css';

const route = getRouteApi('/exports/new');

export const NewExportPage = (): ReactNode => (
  <div className="page">
    <KeyGate need={newExportNeed}>
      <NewExport />
    </KeyGate>
  </div>
);

/** Reads the export that is made again, if the address names one. */
const NewExport = (): ReactNode => {
  const { from } = route.useSearch();
  const earlier = usePlatformQuery({
    queryKey: ['exports', 'one', from],
    read: (client, call) => client.exports.get(from ?? '', call),
    enabled: from !== undefined,
  });
  const given = useGiven(earlier.data);
  if (needsOtherKey(earlier.error)) return <KeyForm need={newExportNeed} refusal={earlier.error} />;
  if (earlier.error) return <Failure error={earlier.error} onRetry={() => void earlier.refetch()} />;
  if (given === undefined || (from !== undefined && earlier.data === undefined)) return <Skeleton />;
  return <ExportForm key={from} given={given} />;
};

/** The fields that the address or an earlier export gives. A project or destination is chosen where there is only one. */
const useGiven = (earlier: BulkExport | undefined): ExportDraft | undefined => {
  const search = route.useSearch();
  const projects = useProjects();
  const destinations = useDestinations();
  const [nowMs] = useState(Date.now);
  if (projects.isPending || destinations.isPending) return undefined;
  const draft = earlier ? draftOf(earlier) : emptyDraft(nowMs);
  const only = (found: readonly { id: string }[] = []): string =>
    found.length === 1 ? (found[0]?.id ?? '') : '';
  return {
    ...draft,
    project: search.project ?? (draft.project || only(projects.data)),
    destination: search.destination ?? (draft.destination || only(destinations.data)),
  };
};

type Answer = { plan: ExportPlan } | { created: BulkExport };

const ExportForm = ({ given }: { given: ExportDraft }): ReactNode => {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const client = usePlatform();
  const form = useForm<ExportDraft, Answer, 'plan' | 'create'>({
    initial: given,
    paths: exportPaths,
    problemsOf: missingChoices,
    send: async (draft, action) =>
      action === 'plan'
        ? { plan: await client.exports.validate(requestOf(draft)) }
        : { created: await client.exports.create(requestOf(draft)) },
    onSent: async (answer) => {
      if (!('created' in answer)) return;
      await queries.invalidateQueries({ queryKey: ['exports'] });
      await navigate({ to: '/exports/$exportId', params: { exportId: answer.created.id } });
    },
  });
  const { draft, result } = form;
  return (
    <FormPage
      title="New export"
      list={
        <Link to="/exports" className="button">
          All exports
        </Link>
      }
      action={draft.isSchedule ? 'Create the schedule' : 'Create the export'}
      form={form}
      trial={{ action: 'Dry run', onTry: () => form.submit('plan') }}
      onCreate={() => form.submit('create')}
    >
      <ExportFields form={form} />
      {result && 'plan' in result && <Plan plan={result.plan} isSchedule={draft.isSchedule} />}
    </FormPage>
  );
};

const Plan = ({ plan, isSchedule }: { plan: ExportPlan; isSchedule: boolean }): ReactNode => {
  const { partitions, estimated_rows: rows, is_exact: isExact } = plan;
  const first = partitions.at(0)?.start_time.slice(0, 10);
  const last = partitions.at(-1)?.start_time.slice(0, 10);
  return (
    <div className="notice" data-tone="blue" role="status">
      <span>
        {isSchedule ? 'The first window' : 'The export'} has {countText(partitions.length, 'day')}
        {first !== undefined && ` (${first === last ? first : `${first} to ${last}`})`} and{' '}
        {isExact ? '' : 'about '}
        {rows === 1 ? '1 row' : `${countOf(rows)} rows`}. Nothing has been created.
      </span>
    </div>
  );
};
