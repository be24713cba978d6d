import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Item } from '@svc/sdk';
import { useState, type ReactNode } from 'react';
import { useClient } from '../api/client.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { ErrorNotice } from '../ui/states.tsx';
import { useDraft } from '../ui/use-draft.ts';
import { JsonField } from '../values/json-field.tsx';
import { formatJson, readExactObject } from '../values/read-json.ts';

/** The item was changed while it was edited. The text in the field stays. */
class ChangedMeanwhile extends Error {}

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
  const [text, setText] = useDraft(edited.key, edited.initial);
  const read = readExactObject(text, 'The value must be an object.');
  const isValid = 'value' in read;
  const save = useMutation({
    mutationFn: async () => {
      const current = await client.store.get(base.namespace, base.key, { refreshTtl: false });
      if (current?.updated_at !== base.updated_at) {
        if (current) setBase(current);
        throw new ChangedMeanwhile(
          current
            ? 'Somebody has changed the item meanwhile. Saving again replaces that change.'
            : 'Somebody has deleted the item meanwhile.',
        );
      }
      if ('value' in read) await client.store.put(base.namespace, base.key, read.value as typeof base.value);
    },
    onSuccess: async () => {
      setText(edited.initial);
      await queries.invalidateQueries({ queryKey: ['store'] });
      onClose();
    },
  });
  const submit = (): void => {
    if (isValid && !save.isPending) save.mutate();
  };
  return (
    <Dialog
      title="Edit the item"
      onClose={onClose}
      actions={
        <DialogActions
          action="Save"
          isDisabled={!isValid || save.isPending}
          onAction={submit}
          onClose={onClose}
        />
      }
    >
      <JsonField
        label="Value, as JSON"
        text={text}
        problem={isValid ? undefined : read.problem}
        onChange={setText}
        onSubmit={submit}
        rows={14}
      />
      <p className="muted">
        Saving sets the time to live and the index that <code>svc.json</code> has as defaults.
      </p>
      <ErrorNotice error={save.error} />
    </Dialog>
  );
};
