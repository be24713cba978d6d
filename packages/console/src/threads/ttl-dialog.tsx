// Sets, changes or removes the time to live of a thread.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Thread } from '@svc/sdk';
import { useState, type ReactNode } from 'react';
import { useClient } from '../api/client.tsx';
import { faultsOf } from '../ui/faults.ts';
import { FormDialog } from '../ui/form-dialog.tsx';
import { FormProblems, SelectField, TextField } from '../ui/form-field.tsx';
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

/** The paths of the request that the form has fields for. */
const paths = ['ttl.strategy', 'ttl'];

export const TtlDialog = ({ thread, onClose }: { thread: Thread; onClose: () => void }): ReactNode => {
  const client = useClient();
  const queries = useQueryClient();
  const { thread_id: threadId } = thread;
  const [draft, setDraft] = useState(() => draftOf(thread.ttl));
  const save = useMutation({
    mutationFn: () => client.threads.update(threadId, { ttl: ttlOf(draft) }),
    onSuccess: async () => {
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['thread', threadId], exact: true }),
        queries.invalidateQueries({ queryKey: ['threads'] }),
      ]);
      onClose();
    },
  });
  const change = (changed: Partial<TtlDraft>): void => {
    setDraft({ ...draft, ...changed });
    // Sentences that belong to another request would mislead.
    save.reset();
  };
  const { strategy, amount, unit } = draft;
  const faults = faultsOf(save.error, paths);
  const problem = amountProblem(draft);
  return (
    <FormDialog
      title="Time to live"
      action="Save"
      isBusy={save.isPending || problem !== undefined}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <SelectField
        label="When the time is over"
        hint={strategies[strategy].hint}
        problem={faults.at.get('ttl.strategy')}
        value={strategy}
        onChange={(value) => change({ strategy: value as TtlDraft['strategy'] })}
      >
        {Object.entries(strategies).map(([name, { option }]) => (
          <option key={name} value={name}>
            {option}
          </option>
        ))}
      </SelectField>
      {strategy !== 'never' && (
        <>
          <div className="form-amount">
            <TextField
              label="Time"
              text={amount}
              problem={problem ?? faults.at.get('ttl')}
              onChange={(text) => change({ amount: text })}
            />
            <SelectField
              label="Unit"
              value={unit}
              onChange={(value) => change({ unit: value as TtlDraft['unit'] })}
            >
              {Object.keys(unitMinutes).map((name) => (
                <option key={name}>{name}</option>
              ))}
            </SelectField>
          </div>
          <p className="muted">
            The time begins when you save it, and begins again after every run and every update of the state.
            A thread does not expire while a run is pending or running on it.
          </p>
        </>
      )}
      {strategy === 'never' && <FormProblems sentences={[faults.at.get('ttl') ?? []].flat()} />}
      <FormProblems sentences={faults.rest} />
    </FormDialog>
  );
};
