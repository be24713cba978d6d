import type { Probe } from '@svc/sdk';
import type { ReactNode } from 'react';
import { Icon } from '../ui/icons.tsx';
import { visibleText } from '../values/visible-text.ts';

type StepName = Probe['steps'][number]['name'];

const labels: Record<StepName, string> = {
  address: 'Find the address',
  assume_role: 'Assume the role',
  put: 'Write a file',
  head: 'Read its size',
  put_if_none_match: 'Refuse to overwrite it',
  delete: 'Delete it',
};

const toneOf = ({ ok, required }: Probe['steps'][number]): 'green' | 'red' | 'amber' =>
  ok ? 'green' : required ? 'red' : 'amber';

/** The outcome of each step, with the code and the message of the store as it has sent them. */
export const ProbeSteps = ({ probe }: { probe: Probe }): ReactNode => (
  <section className="panel" aria-label="Connection check">
    <div className="panel-head" role="status">
      <Icon name={probe.ok ? 'check' : 'warning'} />
      <h2>{probe.ok ? 'Exports can be written here' : 'Exports cannot be written here'}</h2>
    </div>
    <table className="table probe">
      <thead>
        <tr>
          <th scope="col">Step</th>
          <th scope="col">Outcome</th>
          <th scope="col">Code</th>
          <th scope="col">Message</th>
        </tr>
      </thead>
      <tbody>
        {probe.steps.map((step) => (
          <tr key={step.name}>
            <td>
              {labels[step.name]}
              {!step.required && <span className="muted"> (not required)</span>}
            </td>
            <td>
              <span className="badge" data-tone={toneOf(step)}>
                {step.ok ? 'ok' : 'failed'}
              </span>
            </td>
            <td className="mono">{step.code ?? ''}</td>
            <td className="probe-message">{visibleText(step.message ?? '')}</td>
          </tr>
        ))}
      </tbody>
    </table>
    {probe.notes.map((note) => (
      <p key={note} className="pad muted">
        {visibleText(note)}
      </p>
    ))}
  </section>
);
