import type { Item } from '@svc/sdk';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { Pager } from '../ui/paging.tsx';
import { Loaded, State } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { formatNamespace, useItems } from './store-queries.ts';

const previewMax = 200;
const keyMax = 80;

export const ItemList = ({
  prefix,
  page,
  onPage,
}: {
  prefix: readonly string[];
  page: number;
  onPage: (page: number) => void;
}): ReactNode => {
  const query = useItems(prefix, page);
  return (
    <div className="store-items" tabIndex={0} role="region" aria-label="Items">
      <Loaded query={query}>
        {(items) => (
          <DataTable
            rows={items}
            columns={columnsOf(prefix)}
            keyOf={({ namespace, key }) => JSON.stringify([namespace, key])}
            empty={<NoItems isFiltered={prefix.length > 0 || page > 1} />}
          />
        )}
      </Loaded>
      <Pager page={page} count={query.data?.length} onPage={onPage} />
    </div>
  );
};

const NoItems = ({ isFiltered }: { isFiltered: boolean }): ReactNode =>
  isFiltered ? (
    <State icon="empty" title="No item is in this namespace">
      <Link to="/store" className="button">
        All namespaces
      </Link>
    </State>
  ) : (
    <State icon="empty" title="The store is empty">
      <p className="muted">
        The store keeps JSON objects beyond threads. A graph writes one with <code>config.store</code>:
      </p>
      <pre>{"await config.store.put(['users', 'ada'], 'food', { likes: 'apples' });"}</pre>
    </State>
  );

const columnsOf = (prefix: readonly string[]): Column<Item>[] => [
  {
    name: 'Namespace',
    className: 'mono',
    cell: ({ namespace }) => visibleText(formatNamespace(namespace)),
  },
  {
    name: 'Key',
    cell: ({ namespace, key }) => {
      const ns = formatNamespace(namespace);
      const shown = visibleText(key.slice(0, keyMax));
      return (
        <Link
          to="/store"
          search={{ prefix: formatNamespace(prefix) || undefined, ns, key }}
          data-row
          aria-label={`Item ${shown} of ${visibleText(ns)}`}
        >
          {shown}
        </Link>
      );
    },
  },
  {
    name: 'Value',
    className: 'wide mono',
    cell: ({ value }) => visibleText(JSON.stringify(value).slice(0, previewMax)),
  },
  { name: 'Updated', className: 'number', cell: (item) => <Ago at={item.updated_at} /> },
];
