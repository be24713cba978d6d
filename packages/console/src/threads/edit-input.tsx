import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useServerQuery } from '../api/client.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { FormDialog, useForm } from '../ui/form.tsx';
import { Loaded } from '../ui/states.tsx';
import { JsonField } from '../values/json-field.tsx';
import { formatJson, mayBeRounded, readExactJson } from '../values/read-json.ts';
import type { CheckpointEditor } from './run-at.ts';

const title = 'Run again with another input';
/** A longer text makes the field slow. */
const charsMax = 200_000;

/** The input that the checkpoint has and that no node has read. */
const useInput = (threadId: string, checkpointId: string): UseQueryResult<{ input: unknown }> =>
  useServerQuery({
    queryKey: ['thread', threadId, 'state', 'input', checkpointId],
    read: async (client, call) => {
      const at = { checkpointId, select: ['metadata.writes'] };
      const { metadata } = await client.threads.getState(threadId, { ...at, ...call });
      return { input: (metadata['writes'] as Record<string, unknown> | null)?.['__start__'] };
    },
    // The input of a checkpoint never changes.
    staleTime: 'static',
  });

export const EditInput = (editor: CheckpointEditor): ReactNode => {
  const { thread, checkpointId } = editor.chosen;
  const query = useInput(thread.thread_id, checkpointId);
  if (query.data) return <InputDialog {...editor} input={query.data.input} />;
  return (
    <Dialog title={title} onClose={editor.onClose}>
      <Loaded query={query}>{() => null}</Loaded>
    </Dialog>
  );
};

/** The text that the field begins with, or why it is empty. */
const textOf = (input: unknown): { text: string; note?: string } => {
  if (mayBeRounded(input))
    return { text: '', note: 'The input has an integer that the browser rounds. Write the whole input.' };
  const text = formatJson(input);
  if (text.length <= charsMax) return { text };
  return {
    text: '',
    note: `The input has ${text.length} characters, too many for this field. Write a new one.`,
  };
};

const readInput = (text: string): { value: unknown } | { problem: string } => {
  const read = readExactJson(text);
  return 'value' in read && (read.value === undefined || read.value === null)
    ? { problem: 'The input must not be empty.' }
    : read;
};

const InputDialog = ({
  chosen: { thread, row, checkpointId },
  runAt,
  onClose,
  input,
}: CheckpointEditor & { input: unknown }): ReactNode => {
  const [initial] = useState(() => textOf(input));
  const form = useForm({
    initial: { text: initial.text },
    keptAs: `rerun-${thread.thread_id}-${checkpointId}`,
    isReady: ({ text }) => 'value' in readInput(text),
    send: async ({ text }) => {
      const read = readInput(text);
      // A first checkpoint has no parent. The run then starts at the checkpoint itself: no node has read its input yet, so the new one replaces it.
      if ('value' in read)
        await runAt({ checkpointId: row.parent_checkpoint_id ?? checkpointId, input: read.value });
    },
  });
  const read = readInput(form.draft.text);
  return (
    <FormDialog title={title} isWide action="Run" form={form} onClose={onClose}>
      <p className="muted">
        The run starts from the state before this input, on a branch of its own. The original input and what
        followed it stay.
      </p>
      {initial.note !== undefined && <p>{initial.note}</p>}
      <JsonField
        label="Input, as JSON"
        {...form.field('text')}
        problem={'problem' in read ? read.problem : undefined}
        onSubmit={form.submit}
        rows={12}
      />
    </FormDialog>
  );
};
