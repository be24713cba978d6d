// A tree of a JSON value that creates only what is open: a list of 100,000 elements is 100 lines until more are asked for.
import { useState, type ReactNode } from 'react';
import { entriesOf, isBranch, summaryOf } from './json-entries.ts';
import { visibleText } from './visible-text.ts';
import './json-tree.css';

const pageSize = 100;
const textMax = 600;

export const JsonTree = ({ value, openDepth = 1 }: { value: unknown; openDepth?: number }): ReactNode => (
  <div className="json">
    {isBranch(value) ? <Entries value={value} depth={0} openDepth={openDepth} /> : <Leaf value={value} />}
  </div>
);

const Entries = ({
  value,
  depth,
  openDepth,
}: {
  value: object;
  depth: number;
  openDepth: number;
}): ReactNode => {
  const [shown, setShown] = useState(pageSize);
  const { total, entries } = entriesOf(value, shown);
  if (total === 0) return <span className="muted">{Array.isArray(value) ? '[ ]' : '{ }'}</span>;
  return (
    <ul className="json-entries">
      {entries.map(([key, child]) => (
        <Entry key={key} name={key} value={child} depth={depth} openDepth={openDepth} />
      ))}
      {total > shown && (
        <li>
          <button
            type="button"
            className="button"
            data-kind="plain"
            onClick={() => setShown(shown + pageSize)}
          >
            {total - shown} more
          </button>
        </li>
      )}
    </ul>
  );
};

const Entry = ({
  name,
  value,
  depth,
  openDepth,
}: {
  name: string;
  value: unknown;
  depth: number;
  openDepth: number;
}): ReactNode => {
  const [isOpen, setOpen] = useState(depth < openDepth);
  const label = visibleText(name);
  if (!isBranch(value) || Object.keys(value).length === 0)
    return (
      <li className="json-leaf">
        <span className="json-key">{label}</span>
        {isBranch(value) ? (
          <Entries value={value} depth={depth} openDepth={openDepth} />
        ) : (
          <Leaf value={value} />
        )}
      </li>
    );
  return (
    <li>
      <button type="button" className="json-toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span className="json-key">{label}</span>
        <span className="json-summary">{summaryOf(value)}</span>
      </button>
      {isOpen && <Entries value={value} depth={depth + 1} openDepth={openDepth} />}
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
        <button type="button" className="button" data-kind="plain" onClick={() => setWhole(true)}>
          {value.length - textMax} more characters
        </button>
      )}
    </span>
  );
};
