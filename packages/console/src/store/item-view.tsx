// One item: its value, and the dialogs that change or delete it.
import type { Item } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useClient } from '../api/client.tsx';
import { Button } from '../ui/button.tsx';
import { DeleteButton } from '../ui/dialog.tsx';
import { Icon } from '../ui/icons.tsx';
import { Fact } from '../ui/panel.tsx';
import { Loaded, State } from '../ui/states.tsx';
import { Moment } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { JsonTree } from '../values/json-tree.tsx';
import { ItemEditor } from './item-editor.tsx';
import { formatNamespace, useItem } from './store-queries.ts';

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
  const client = useClient();
  const queries = useQueryClient();
  const [isEditing, setEditing] = useState(false);
  const namespace = visibleText(formatNamespace(item.namespace));
  const remove = useMutation({
    mutationFn: () => client.store.delete(item.namespace, item.key),
    onSuccess: async () => {
      onClose();
      await queries.invalidateQueries({ queryKey: ['store'] });
    },
  });
  return (
    <>
      <header className="row">
        <h2>{visibleText(item.key)}</h2>
        <div className="page-actions">
          <Button onClick={() => setEditing(true)}>
            <Icon name="edit" size={14} /> Edit…
          </Button>
          <DeleteButton title="Delete this item?" action="Delete the item" request={remove}>
            <p>
              <code>{visibleText(item.key)}</code> of <code>{namespace}</code> is deleted for all graphs and
              users. This cannot be undone.
            </p>
          </DeleteButton>
        </div>
      </header>
      <dl className="facts">
        <Fact name="Namespace" value={<span className="mono">{namespace}</span>} />
        <Fact name="Created" value={<Moment at={item.created_at} />} />
        <Fact name="Updated" value={<Moment at={item.updated_at} />} />
      </dl>
      <div className="panel pad">
        <JsonTree value={item.value} openDepth={3} />
      </div>
      {isEditing && <ItemEditor item={item} onClose={() => setEditing(false)} />}
    </>
  );
};
