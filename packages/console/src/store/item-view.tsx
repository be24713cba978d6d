// One item: its value, and the dialogs that change or delete it.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Item } from '@svc/sdk';
import { useState, type ReactNode } from 'react';
import { useClient } from '../api/client.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { Icon } from '../ui/icons.tsx';
import { ErrorNotice, Loaded, State } from '../ui/states.tsx';
import { Moment } from '../ui/time.tsx';
import { JsonTree } from '../values/json-tree.tsx';
import { visibleText } from '../values/visible-text.ts';
import { ItemEditor } from './item-editor.tsx';
import { formatNamespace } from './namespace-text.ts';
import { useItem } from './store-queries.ts';

export interface ItemViewProps {
  namespace: readonly string[];
  itemKey: string;
  /** The list that the item was opened from. */
  prefix: string | undefined;
  onClose: () => void;
}

export const ItemView = (props: ItemViewProps): ReactNode => {
  const query = useItem(props.namespace, props.itemKey);
  return (
    <section className="split-detail store-item" aria-label="Item" tabIndex={0}>
      <Link to="/store" search={{ prefix: props.prefix }}>
        Back to the items
      </Link>
      <Loaded query={query}>
        {(item) =>
          item === null ? (
            <State icon="empty" title="There is no such item">
              <p className="muted">It was deleted, or it has expired.</p>
            </State>
          ) : (
            <Details item={item} onClose={props.onClose} />
          )
        }
      </Loaded>
    </section>
  );
};

const Details = ({ item, onClose }: { item: Item; onClose: () => void }): ReactNode => {
  const [dialog, setDialog] = useState<'edit' | 'delete'>();
  const close = (): void => setDialog(undefined);
  return (
    <>
      <header className="row">
        <h2>{visibleText(item.key)}</h2>
        <div className="page-actions">
          <button type="button" className="button" onClick={() => setDialog('edit')}>
            <Icon name="edit" size={14} /> Edit…
          </button>
          <button type="button" className="button" data-kind="danger" onClick={() => setDialog('delete')}>
            <Icon name="trash" size={14} /> Delete…
          </button>
        </div>
      </header>
      <dl className="facts">
        <dt>Namespace</dt>
        <dd className="mono">{visibleText(formatNamespace(item.namespace))}</dd>
        <dt>Created</dt>
        <dd>
          <Moment at={item.created_at} />
        </dd>
        <dt>Updated</dt>
        <dd>
          <Moment at={item.updated_at} />
        </dd>
      </dl>
      <div className="panel pad">
        <JsonTree value={item.value} openDepth={3} />
      </div>
      {dialog === 'edit' && <ItemEditor item={item} onClose={close} />}
      {dialog === 'delete' && <Deletion item={item} onClose={close} onDeleted={onClose} />}
    </>
  );
};

const Deletion = ({
  item,
  onClose,
  onDeleted,
}: {
  item: Item;
  onClose: () => void;
  onDeleted: () => void;
}): ReactNode => {
  const client = useClient();
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => client.store.delete(item.namespace, item.key),
    onSuccess: async () => {
      onDeleted();
      await queries.invalidateQueries({ queryKey: ['store'] });
    },
  });
  return (
    <Confirm
      title="Delete this item?"
      action="Delete the item"
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      <p>
        <code>{visibleText(item.key)}</code> of <code>{visibleText(formatNamespace(item.namespace))}</code> is
        deleted for all graphs and users. This cannot be undone.
      </p>
      <ErrorNotice error={remove.error} />
    </Confirm>
  );
};
