import { useQueryClient } from '@tanstack/react-query';
import type { Item } from '@svc/sdk';
import { useState, type ReactNode } from 'react';
import { useClient } from '../api/client.tsx';
import { FormDialog, useForm } from '../ui/form.tsx';
import { JsonField } from '../values/json-field.tsx';
import { formatJson, readExactObject } from '../values/read-json.ts';

/** The item was changed while it was edited. The text in the field stays. */
class ChangedMeanwhile extends Error {}

const readValue = (text: string) => readExactObject(text, 'The value must be an object.');

export const ItemEditor = ({ item, onClose }: { item: Item; onClose: () => void }): ReactNode => {
  const client = useClient();
  const queries = useQueryClient();
  // The version that is edited. The page may read a newer one while the dialog is open.
  const [base, setBase] = useState(item);
  // A draft of an earlier version would undo what was written since.
  const [edited] = useState(() => ({
    key: `item-${JSON.stringify([...item.namespace, item.key])}-${item.updated_at}`,
    initial: formatJson(item.value),
  }));
  const form = useForm({
    initial: { text: edited.initial },
    keptAs: edited.key,
    isReady: ({ text }) => 'value' in readValue(text),
    send: async ({ text }) => {
      const current = await client.store.get(base.namespace, base.key, { refreshTtl: false });
      if (current?.updated_at !== base.updated_at) {
        if (current) setBase(current);
        throw new ChangedMeanwhile(
          current
            ? 'Somebody has changed the item meanwhile. Saving again replaces that change.'
            : 'Somebody has deleted the item meanwhile.',
        );
      }
      const read = readValue(text);
      if ('value' in read) await client.store.put(base.namespace, base.key, read.value as typeof base.value);
    },
    onSent: async () => {
      await queries.invalidateQueries({ queryKey: ['store'] });
      onClose();
    },
  });
  const read = readValue(form.draft.text);
  return (
    <FormDialog title="Edit the item" action="Save" form={form} onClose={onClose}>
      <JsonField
        label="Value, as JSON"
        {...form.field('text')}
        problem={'value' in read ? undefined : read.problem}
        onSubmit={form.submit}
        rows={14}
      />
      <p className="muted">
        Saving sets the time to live and the index that <code>svc.json</code> has as defaults.
      </p>
    </FormDialog>
  );
};
