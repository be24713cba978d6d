// The fields of a new export: where to, what, and in which form.
import { Link } from '@tanstack/react-router';
import type { PlatformClient } from '@svc/sdk';
import type { ReactNode } from 'react';
import { placeOf, useDestinations } from '../platform/destinations.ts';
import { useProjects } from '../platform/projects.ts';
import type { Faults } from '../ui/faults.ts';
import { SelectField, TextField } from '../ui/form-field.tsx';
import { visibleText } from '../values/visible-text.ts';
import { columns, usualColumns, type Column } from './columns.ts';
import type { ExportDraft } from './export-draft.ts';

interface FieldsProps {
  draft: ExportDraft;
  faults: Faults;
  onChange: (changed: Partial<ExportDraft>) => void;
}

export const ExportFields = ({ client, ...fields }: FieldsProps & { client: PlatformClient }): ReactNode => (
  <>
    <fieldset>
      <legend>From and to</legend>
      <ProjectField client={client} {...fields} />
      <DestinationField client={client} {...fields} />
    </fieldset>
    <fieldset>
      <legend>Trace runs</legend>
      <TimeFields {...fields} />
      <TextField
        label="Filter"
        placeholder='eq(run_type, "llm")'
        hint="In the language of the filter of traces; empty for all trace runs."
        text={fields.draft.filter}
        problem={fields.faults.at.get('filter')}
        onChange={(filter) => fields.onChange({ filter })}
      />
    </fieldset>
    <fieldset>
      <legend>Files</legend>
      <FormatFields {...fields} />
      <ColumnFields {...fields} />
    </fieldset>
  </>
);

type WithClient = FieldsProps & { client: PlatformClient };

const ProjectField = ({ client, draft, faults, onChange }: WithClient): ReactNode => {
  const { data: projects = [] } = useProjects(client);
  return (
    <SelectField
      label="Project"
      problem={faults.at.get('session_id')}
      value={draft.project}
      onChange={(value) => onChange({ project: value })}
    >
      <option value="">Choose a project</option>
      {draft.project !== '' && !projects.some(({ id }) => id === draft.project) && (
        <option value={draft.project}>{draft.project}</option>
      )}
      {projects.map(({ id, name }) => (
        <option key={id} value={id}>
          {visibleText(name)}
        </option>
      ))}
    </SelectField>
  );
};

const DestinationField = ({ client, draft, faults, onChange }: WithClient): ReactNode => {
  const { data: destinations = [] } = useDestinations(client);
  return (
    <SelectField
      label="Destination"
      problem={faults.at.get('bulk_export_destination_id')}
      hint={
        <>
          A bucket or a folder. <Link to="/destinations/new">Create a destination</Link>
        </>
      }
      value={draft.destination}
      onChange={(value) => onChange({ destination: value })}
    >
      <option value="">Choose a destination</option>
      {destinations.map((destination) => (
        <option key={destination.id} value={destination.id}>
          {visibleText(`${destination.display_name} (${placeOf(destination)})`)}
        </option>
      ))}
    </SelectField>
  );
};

const TimeFields = ({ draft, faults, onChange }: FieldsProps): ReactNode => (
  <>
    <div className="form-pair">
      <TextField
        label="Started at or after"
        type="datetime-local"
        text={draft.from}
        problem={faults.at.get('start_time')}
        onChange={(from) => onChange({ from })}
      />
      {draft.isSchedule ? (
        <TextField
          label="Repeated every (hours)"
          type="number"
          text={draft.everyHours}
          problem={faults.at.get('interval_hours')}
          onChange={(everyHours) => onChange({ everyHours })}
        />
      ) : (
        <TextField
          label="Started before"
          type="datetime-local"
          text={draft.to}
          problem={faults.at.get('end_time')}
          onChange={(to) => onChange({ to })}
        />
      )}
    </div>
    <label className="row">
      <input
        type="checkbox"
        checked={draft.isSchedule}
        onChange={(event) => onChange({ isSchedule: event.target.checked })}
      />
      Repeat: a schedule creates an export of each window
    </label>
  </>
);

const compressions = ['zstandard', 'snappy', 'gzip', 'none'] as const satisfies ExportDraft['compression'][];

const FormatFields = ({ draft, faults, onChange }: FieldsProps): ReactNode => (
  <>
    <SelectField
      label="Format of Parquet files"
      problem={faults.at.get('format_version')}
      value={draft.formatVersion}
      onChange={(value) => onChange({ formatVersion: value as ExportDraft['formatVersion'] })}
    >
      <option value="v2_beta">v2_beta: times in UTC, lists as lists</option>
      <option value="v1">v1: times without a zone, lists as JSON text</option>
    </SelectField>
    <SelectField
      label="Compression"
      problem={faults.at.get('compression')}
      value={draft.compression}
      onChange={(value) => onChange({ compression: value as ExportDraft['compression'] })}
    >
      {compressions.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </SelectField>
  </>
);

const ColumnFields = ({ draft, faults, onChange }: FieldsProps): ReactNode => {
  const chosen = draft.fields;
  const toggle = (column: Column): void =>
    // In the order of the files, not of the clicks.
    onChange({ fields: columns.filter((one) => (one === column) !== (chosen ?? []).includes(one)) });
  const problem = faults.at.get('export_fields');
  return (
    <>
      <label className="row">
        <input
          type="checkbox"
          checked={chosen === undefined}
          onChange={(event) => onChange({ fields: event.target.checked ? undefined : [...usualColumns] })}
        />
        The usual {usualColumns.length} columns
      </label>
      {chosen !== undefined && (
        <div className="export-fields" role="group" aria-label="Columns">
          {columns.map((column) => (
            <label key={column} className="row mono">
              <input type="checkbox" checked={chosen.includes(column)} onChange={() => toggle(column)} />
              {column}
            </label>
          ))}
        </div>
      )}
      {problem !== undefined && (
        <p className="form-problem" role="alert">
          {problem}
        </p>
      )}
    </>
  );
};
