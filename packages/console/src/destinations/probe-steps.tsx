import type { Probe } from '@svc/sdk';
import type { ReactNode } from 'react';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { Icon } from '../ui/icons.tsx';
import { visibleText } from '../ui/visible-text.ts';

type Step = Probe['steps'][number];

const labels: Record<Step['name'], string> = {
  address: 'Find the address',
  assume_role: 'Assume the role',
  put: 'Write a file',
  head: 'Read its size',
  put_if_none_match: 'Refuse to overwrite it',
  delete: 'Delete it',
};

const toneOf = ({ ok, required }: Step): 'green' | 'red' | 'amber' =>
  ok ? 'green' : required ? 'red' : 'amber';

const columns: readonly Column<Step>[] = [
  {
    name: 'Step',
    cell: ({ name, required }) => (
      <>
        {labels[name]}
        {!required && <span className="muted"> (not required)</span>}
      </>
    ),
  },
  {
    name: 'Outcome',
    cell: (step) => (
      <span className="badge" data-tone={toneOf(step)}>
        {step.ok ? 'ok' : 'failed'}
      </span>
    ),
  },
  { name: 'Code', className: 'mono', cell: ({ code }) => code },
  { name: 'Message', className: 'probe-message', cell: ({ message }) => visibleText(message ?? '') },
];

/** The outcome of each step, with the code and the message of the store as it has sent them. */
export const ProbeSteps = ({ probe }: { probe: Probe }): ReactNode => (
  <section className="panel" aria-label="Connection check">
    <div className="panel-head" role="status">
      <Icon name={probe.ok ? 'check' : 'warning'} />
      <h2>{probe.ok ? 'Exports can be written here' : 'Exports cannot be written here'}</h2>
    </div>
    <DataTable rows={probe.steps} columns={columns} keyOf={({ name }) => name} />
    {probe.notes.map((note) => (
      <p key={note} className="pad muted">
        {visibleText(note)}
      </p>
    ))}
  </section>
);
