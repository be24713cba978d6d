// What is different between two spans that correspond.
import type { TraceRun } from '@svc/sdk';
import type { ReactNode } from 'react';
import { Loaded } from '../ui/states.tsx';
import { JsonChanges } from '../values/json-changes.tsx';
import { visibleText } from '../ui/visible-text.ts';
import type { PayloadForm } from './payload-view.tsx';
import { SpanPanel } from './span-panel.tsx';
import type { TreeRun } from './span-table.ts';
import { useSpan } from './trace-queries.ts';

export const PairPanel = ({
  left,
  right,
  ...form
}: {
  left: TreeRun | undefined;
  right: TreeRun | undefined;
  form: PayloadForm;
  onForm: (form: PayloadForm) => void;
}): ReactNode => {
  if (left && right) return <Differences left={left} right={right} />;
  const only = left ?? right;
  return only ? <SpanPanel span={only} {...form} /> : null;
};

const Differences = ({ left, right }: { left: TreeRun; right: TreeRun }): ReactNode => {
  const before = useSpan(left.id, { isOpen: left.status === 'pending' });
  const after = useSpan(right.id, { isOpen: right.status === 'pending' });
  return (
    <section className="span-panel" aria-label="Differences" tabIndex={0}>
      <header className="row">
        <h2>{visibleText(left.name)}</h2>
        <span className="muted">what is different in the right trace</span>
      </header>
      <Loaded query={before}>
        {(from) => <Loaded query={after}>{(to) => <Changed before={from} after={to} />}</Loaded>}
      </Loaded>
    </section>
  );
};

const Changed = ({ before, after }: { before: TraceRun; after: TraceRun }): ReactNode => (
  <>
    {before.error !== after.error && <Part title="Error" before={before.error} after={after.error} />}
    <Part title="Inputs" before={before.inputs} after={after.inputs} />
    <Part title="Outputs" before={before.outputs} after={after.outputs} />
    <Part title="Metadata" before={before.extra?.['metadata']} after={after.extra?.['metadata']} />
  </>
);

const Part = ({ title, before, after }: { title: string; before: unknown; after: unknown }): ReactNode => (
  <div className="stack">
    <h3>{title}</h3>
    <JsonChanges before={before ?? null} after={after ?? null} />
  </div>
);
