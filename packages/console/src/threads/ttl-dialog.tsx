// Sets, changes or removes the time to live of a thread.
import { useQueryClient } from '@tanstack/react-query';
import type { Thread } from '@svc/sdk';
import type { ReactNode } from 'react';
import { useClient } from '../api/client.tsx';
import { SelectField, TextField } from '../ui/form-field.tsx';
import { FormDialog, FormProblems, useForm } from '../ui/form.tsx';
import { amountProblem, draftOf, ttlOf, unitMinutes, type TtlDraft } from './ttl-draft.ts';

/** What happens when the time is over. */
const strategies: Record<TtlDraft['strategy'], { option: string; hint: string }> = {
  never: {
    option: 'Nothing: the thread never expires',
    hint: 'The thread is kept until somebody deletes it.',
  },
  delete: {
    option: 'The thread is deleted',
    hint: 'Its state, its checkpoints and its runs are deleted with it. Copies of the thread stay.',
  },
  keep_latest: {
    option: 'Earlier checkpoints are deleted',
    hint: 'The current state with its open questions, and the runs, stay. Forks of earlier checkpoints are no longer possible.',
  },
};

export const TtlDialog = ({ thread, onClose }: { thread: Thread; onClose: () => void }): ReactNode => {
  const client = useClient();
  const queries = useQueryClient();
  const { thread_id: threadId } = thread;
  const form = useForm({
    initial: draftOf(thread.ttl),
    // The first path that an error is at, or below.
    paths: { strategy: 'ttl.strategy', amount: 'ttl' },
    isReady: (draft) => amountProblem(draft) === undefined,
    send: (draft) => client.threads.update(threadId, { ttl: ttlOf(draft) }),
    onSent: async () => {
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['thread', threadId], exact: true }),
        queries.invalidateQueries({ queryKey: ['threads'] }),
      ]);
      onClose();
    },
  });
  const { draft, field } = form;
  const amount = field('amount');
  return (
    <FormDialog title="Time to live" action="Save" form={form} onClose={onClose}>
      <SelectField
        label="When the time is over"
        hint={strategies[draft.strategy].hint}
        choices={Object.entries(strategies).map(([name, { option }]) => [name, option])}
        {...field('strategy')}
      />
      {draft.strategy === 'never' ? (
        <FormProblems sentences={[amount.problem ?? []].flat()} />
      ) : (
        <>
          <div className="form-amount">
            <TextField label="Time" {...amount} problem={amountProblem(draft) ?? amount.problem} />
            <SelectField
              label="Unit"
              choices={Object.keys(unitMinutes).map((name) => [name, name])}
              {...field('unit')}
            />
          </div>
          <p className="muted">
            The time begins when you save it, and begins again after every run and every update of the state.
            A thread does not expire while a run is pending or running on it.
          </p>
        </>
      )}
    </FormDialog>
  );
};
