import { Link, useNavigate } from '@tanstack/react-router';
import type { Item } from '@svc/sdk';
import type { ReactNode } from 'react';
import { Pager } from '../ui/paging.tsx';
import { Loaded, State } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../values/visible-text.ts';
import { formatNamespace } from './namespace-text.ts';
import { useItems } from './store-queries.ts';

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
        {(items) =>
          items.length === 0 ? (
            <NoItems isFiltered={prefix.length > 0 || page > 1} />
          ) : (
            <ItemTable items={items} prefix={prefix} />
          )
        }
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

const ItemTable = ({ items, prefix }: { items: readonly Item[]; prefix: readonly string[] }): ReactNode => (
  <table className="table">
    <thead>
      <tr>
        <th scope="col">Namespace</th>
        <th scope="col">Key</th>
        <th scope="col">Value</th>
        <th scope="col" className="number">
          Updated
        </th>
      </tr>
    </thead>
    <tbody>
      {items.map((item) => (
        <ItemRow key={JSON.stringify([item.namespace, item.key])} item={item} prefix={prefix} />
      ))}
    </tbody>
  </table>
);

const ItemRow = ({ item, prefix }: { item: Item; prefix: readonly string[] }): ReactNode => {
  const navigate = useNavigate();
  const { key, updated_at: updatedAt } = item;
  const namespace = formatNamespace(item.namespace);
  const shown = visibleText(key.slice(0, keyMax));
  const target = {
    to: '/store',
    search: { prefix: formatNamespace(prefix) || undefined, ns: namespace, key },
  } as const;
  return (
    <tr onClick={() => void navigate(target)}>
      <td className="mono">{visibleText(namespace)}</td>
      <td>
        <Link {...target} data-row aria-label={`Item ${shown} of ${visibleText(namespace)}`}>
          {shown}
        </Link>
      </td>
      <td className="wide mono">{visibleText(JSON.stringify(item.value).slice(0, previewMax))}</td>
      <td className="number">
        <Ago at={updatedAt} />
      </td>
    </tr>
  );
};
