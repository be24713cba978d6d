// A tree of a JSON value that creates only what is open: a list of 100,000 elements is 100 lines until more are requested. Parts of a
// state that are not in the page are read when they are opened.
import { useState, type ReactNode } from 'react';
import { StoredPart } from '../stored/stored-part.ts';
import { entriesOf, isBranch, summaryOf } from './json-entries.ts';
import { StoredEntries, StoredText } from './json-stored.tsx';
import { Button } from '../ui/button.tsx';
import { visibleText } from '../ui/visible-text.ts';
import './json-tree.css';

const pageSize = 100;
const textMax = 600;

export const JsonTree = ({ value, openDepth = 1 }: { value: unknown; openDepth?: number }): ReactNode => (
  <div className="json">
    {isBranch(value) ? <Branch value={value} depth={0} openDepth={openDepth} /> : <Leaf value={value} />}
  </div>
);

interface Place {
  depth: number;
  /** Branches below this depth are closed at first. */
  openDepth: number;
}

const Branch = ({ value, ...place }: { value: object } & Place): ReactNode => {
  if (!(value instanceof StoredPart)) return <Entries value={value} {...place} />;
  if (value.type === 'string') return <StoredText part={value} />;
  return (
    <StoredEntries part={value}>
      {(entries, more) => <EntryList entries={entries} {...more} {...place} />}
    </StoredEntries>
  );
};

const Entries = ({ value, ...place }: { value: object } & Place): ReactNode => {
  const [shown, setShown] = useState(pageSize);
  const { total, entries } = entriesOf(value, shown);
  if (total === 0) return <span className="muted">{Array.isArray(value) ? '[ ]' : '{ }'}</span>;
  return (
    <EntryList entries={entries} left={total - shown} onMore={() => setShown(shown + pageSize)} {...place} />
  );
};

const EntryList = ({
  entries,
  left,
  onMore,
  depth,
  openDepth,
}: { entries: readonly [string, unknown][]; left: number; onMore: () => void } & Place): ReactNode => (
  <ul className="json-entries">
    {entries.map(([key, child]) => (
      <Entry key={key} name={key} value={child} depth={depth} openDepth={openDepth} />
    ))}
    {left > 0 && (
      <li>
        <Button kind="plain" onClick={onMore}>
          {left} more
        </Button>
      </li>
    )}
  </ul>
);

/** A branch without entries, and a text that is not in the page, have no line of their own. */
const isLeaf = (value: unknown): boolean => {
  if (!isBranch(value)) return true;
  return value instanceof StoredPart ? value.type === 'string' : Object.keys(value).length === 0;
};

const Entry = ({ name, value, depth, openDepth }: { name: string; value: unknown } & Place): ReactNode => {
  const [isOpen, setOpen] = useState(depth < openDepth && !(value instanceof StoredPart));
  const label = visibleText(name);
  if (isLeaf(value))
    return (
      <li className="json-leaf">
        <span className="json-key">{label}</span>
        {isBranch(value) ? (
          <Branch value={value} depth={depth} openDepth={openDepth} />
        ) : (
          <Leaf value={value} />
        )}
      </li>
    );
  const branch = value as object;
  return (
    <li>
      <button type="button" className="json-toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span className="json-key">{label}</span>
        <span className="json-summary">{summaryOf(branch)}</span>
      </button>
      {isOpen && <Branch value={branch} depth={depth + 1} openDepth={openDepth} />}
    </li>
  );
};

const Leaf = ({ value }: { value: unknown }): ReactNode => {
  const [isWhole, setWhole] = useState(false);
  if (typeof value !== 'string') return <span data-type={typeof value}>{String(value)}</span>;
  const isCut = !isWhole && value.length > textMax;
  return (
    <span data-type="string">
      {visibleText(isCut ? value.slice(0, textMax) : value)}
      {isCut && (
        <Button kind="plain" onClick={() => setWhole(true)}>
          {value.length - textMax} more characters
        </Button>
      )}
    </span>
  );
};
