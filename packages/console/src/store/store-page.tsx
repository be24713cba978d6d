import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { pageNumber, pageText } from '../ui/paging.tsx';
import { ItemList } from './item-table.tsx';
import { ItemView } from './item-view.tsx';
import { NamespaceTree } from './namespace-tree.tsx';
import { namespaceProblem, readNamespace } from './store-queries.ts';
import './store.css';

const route = getRouteApi('/store');

export const StorePage = (): ReactNode => {
  const { prefix, ns, key, page: given } = route.useSearch();
  const navigate = route.useNavigate();
  const selected = readNamespace(prefix);
  const page = pageNumber(given);
  return (
    <div className="page">
      <header className="page-head">
        <h1>Store</h1>
        <PrefixField
          prefix={prefix}
          onChange={(changed) => void navigate({ search: { prefix: changed }, replace: true })}
        />
      </header>
      <div className="split">
        <NamespaceTree selected={selected} />
        {key === undefined || ns === undefined ? (
          <ItemList
            prefix={selected}
            page={page}
            onPage={(next) => void navigate({ search: { prefix, page: pageText(next) }, replace: true })}
          />
        ) : (
          <ItemView
            key={JSON.stringify([ns, key])}
            namespace={readNamespace(ns)}
            itemKey={key}
            prefix={prefix}
            onClose={() => void navigate({ search: { prefix }, replace: true })}
          />
        )}
      </div>
    </div>
  );
};

const PrefixField = ({
  prefix,
  onChange,
}: {
  prefix: string | undefined;
  onChange: (prefix: string | undefined) => void;
}): ReactNode => {
  const [text, setText] = useState(prefix ?? '');
  useEffect(() => setText(prefix ?? ''), [prefix]);
  const problem = namespaceProblem(text);
  return (
    <form
      role="search"
      className="row"
      onSubmit={(event) => {
        event.preventDefault();
        if (problem === undefined) onChange(text.trim() || undefined);
      }}
    >
      <input
        className="field mono"
        data-filter
        size={32}
        aria-label="Namespace prefix, labels separated by dots"
        placeholder="namespace prefix, as users.ada"
        aria-invalid={problem !== undefined}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {problem !== undefined && (
        <span role="alert" style={{ color: 'var(--red)' }}>
          {problem}
        </span>
      )}
    </form>
  );
};
