// The fields of a new export: where to, what, and in which form.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { placeOf, useDestinations } from '../platform/destinations.ts';
import { useProjects } from '../platform/projects.tsx';
import { CheckField, SelectField, TextField } from '../ui/form-field.tsx';
import type { Form } from '../ui/form.tsx';
import { type Column, columns, type ExportDraft, exportPaths, usualColumns } from './export-draft.ts';

interface FieldsProps {
  form: Pick<Form<ExportDraft>, 'draft' | 'field' | 'change' | 'problemAt'>;
}

export const ExportFields = ({ form }: FieldsProps): ReactNode => {
  const { data: projects = [] } = useProjects();
  const { data: destinations = [] } = useDestinations();
  const { draft, field } = form;
  const isKnown = draft.project === '' || projects.some(({ id }) => id === draft.project);
  return (
    <>
      <fieldset>
        <legend>From and to</legend>
        <SelectField
          label="Project"
          choices={[
            ['', 'Choose a project'],
            ...(isKnown ? [] : [[draft.project, draft.project] as const]),
            ...projects.map(({ id, name }) => [id, name] as const),
          ]}
          {...field('project')}
        />
        <SelectField
          label="Destination"
          hint={
            <>
              A bucket or a folder. <Link to="/destinations/new">Create a destination</Link>
            </>
          }
          choices={[
            ['', 'Choose a destination'],
            ...destinations.map((one) => [one.id, `${one.display_name} (${placeOf(one)})`] as const),
          ]}
          {...field('destination')}
        />
      </fieldset>
      <fieldset>
        <legend>Trace runs</legend>
        <TimeFields form={form} />
        <TextField
          label="Filter"
          placeholder='eq(run_type, "llm")'
          hint="In the language of the filter of traces; empty for all trace runs."
          {...field('filter')}
        />
      </fieldset>
      <fieldset>
        <legend>Files</legend>
        <SelectField
          label="Format of Parquet files"
          choices={[
            ['v2_beta', 'v2_beta: times in UTC, lists as lists'],
            ['v1', 'v1: times without a zone, lists as JSON text'],
          ]}
          {...field('formatVersion')}
        />
        <SelectField
          label="Compression"
          choices={compressions.map((name) => [name, name])}
          {...field('compression')}
        />
        <ColumnFields form={form} />
      </fieldset>
    </>
  );
};

const TimeFields = ({ form: { draft, field, change } }: FieldsProps): ReactNode => (
  <>
    <div className="form-pair">
      <TextField label="Started at or after" type="datetime-local" {...field('from')} />
      {draft.isSchedule ? (
        <TextField label="Repeated every (hours)" type="number" {...field('everyHours')} />
      ) : (
        <TextField label="Started before" type="datetime-local" {...field('to')} />
      )}
    </div>
    <CheckField
      label="Repeat: a schedule creates an export of each window"
      isChecked={draft.isSchedule}
      onChange={(isSchedule) => change({ isSchedule })}
    />
  </>
);

const compressions = ['zstandard', 'snappy', 'gzip', 'none'] as const satisfies ExportDraft['compression'][];

const ColumnFields = ({ form: { draft, change, problemAt } }: FieldsProps): ReactNode => {
  const chosen = draft.fields;
  const toggle = (column: Column): void =>
    // In the order of the files, not of the clicks.
    change({ fields: columns.filter((one) => (one === column) !== (chosen ?? []).includes(one)) });
  const problem = problemAt(exportPaths.fields);
  return (
    <>
      <CheckField
        label={`The usual ${usualColumns.length} columns`}
        isChecked={chosen === undefined}
        onChange={(isUsual) => change({ fields: isUsual ? undefined : [...usualColumns] })}
      />
      {chosen !== undefined && (
        <div className="export-fields" role="group" aria-label="Columns">
          {columns.map((column) => (
            <CheckField
              key={column}
              label={column}
              isMono
              isChecked={chosen.includes(column)}
              onChange={() => toggle(column)}
            />
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
