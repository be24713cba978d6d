import { useMemo, type ReactNode } from 'react';
import { diffValues, type Change } from './json-diff.ts';
import { JsonTree } from './json-tree.tsx';
import './json-tree.css';

/** The changes from one value to another. */
export const JsonChanges = ({ before, after }: { before: unknown; after: unknown }): ReactNode => {
  const changes = useMemo(() => diffValues(before, after), [before, after]);
  if (changes.length === 0) return <p className="muted">Nothing is different.</p>;
  return (
    <div className="diff">
      {changes.map((change) => (
        <ChangedPath key={change.path} change={change} />
      ))}
    </div>
  );
};

const ChangedPath = ({ change: { kind, path, before, after } }: { change: Change }): ReactNode => (
  <section aria-label={`${kind} ${path}`} className="stack">
    <p className="diff-path">
      {path === '' ? 'the whole value' : path} <span className="muted">{kind}</span>
    </p>
    {kind !== 'added' && <Side side="before" value={before} />}
    {kind !== 'removed' && <Side side="after" value={after} />}
  </section>
);

const Side = ({ side, value }: { side: 'before' | 'after'; value: unknown }): ReactNode => (
  <div className="diff-side" data-side={side}>
    <JsonTree value={value} openDepth={0} />
  </div>
);
