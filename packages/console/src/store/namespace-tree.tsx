// The namespaces as a tree. Each level is read when it is opened.
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Icon } from '../ui/icons.tsx';
import { ErrorNotice } from '../ui/states.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { childrenMax, formatNamespace, useNamespaces } from './store-queries.ts';

/** Only the link of the selected namespace is the current one: all of them lead to this page. */
const exact = { exact: true, includeSearch: true };

export const NamespaceTree = ({ selected }: { selected: readonly string[] }): ReactNode => (
  <nav className="split-list" aria-label="Namespaces" tabIndex={0}>
    <Link
      to="/store"
      className="namespace namespace-root"
      activeOptions={exact}
      data-selected={selected.length === 0}
    >
      All namespaces
    </Link>
    <Level prefix={[]} selected={selected} />
  </nav>
);

interface LevelProps {
  prefix: readonly string[];
  selected: readonly string[];
}

const Level = ({ prefix, selected }: LevelProps): ReactNode => {
  const { data, error } = useNamespaces(prefix, { isOpen: true });
  if (error) return <ErrorNotice error={error} />;
  return (
    <ul className="namespace-level">
      {data?.map((namespace) => (
        <Node key={formatNamespace(namespace)} prefix={namespace} selected={selected} />
      ))}
      {data?.length === childrenMax && (
        <li className="muted namespace-more">The first {childrenMax}; search for others by their prefix.</li>
      )}
    </ul>
  );
};

/** True when the selected namespace is this one, or is below it. */
const isWithin = (prefix: readonly string[], selected: readonly string[]): boolean =>
  prefix.every((label, index) => selected[index] === label);

const Node = ({ prefix, selected }: LevelProps): ReactNode => {
  const isSelected = prefix.length === selected.length && isWithin(prefix, selected);
  const [isOpen, setOpen] = useState(isWithin(prefix, selected));
  const label = visibleText(prefix.at(-1) ?? '');
  return (
    <li>
      <div className="namespace" data-selected={isSelected}>
        <button
          type="button"
          className="namespace-toggle"
          aria-expanded={isOpen}
          aria-label={`Namespaces below ${label}`}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="right" size={10} />
        </button>
        <Link
          to="/store"
          search={{ prefix: formatNamespace(prefix) }}
          activeOptions={exact}
          className="namespace-label"
        >
          {label}
        </Link>
      </div>
      {isOpen && <Level prefix={prefix} selected={selected} />}
    </li>
  );
};
