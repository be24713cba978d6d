// Sets, changes or removes the time to live of a thread.
import type { Thread } from '@svc/sdk';
import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useClient } from '../api/client.tsx';
import { SelectField, TextField } from '../ui/form-field.tsx';
import { FormDialog, FormProblems, useForm } from '../ui/form.tsx';
import { Moment, Until } from '../ui/time.tsx';
import {
  amountProblem,
  draftOf,
  spanText,
  type ThreadTtl,
  type TtlDraft,
  ttlOf,
  unitMinutes,
} from './ttl-draft.ts';

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
    // An error belongs to the first of these paths that it is at or below, so `ttl` is last.
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

// When a thread expires, and what is deleted then.
/** In the head of the page; nothing for a thread that does not expire, or has nothing left to delete. */
export const ExpirySummary = ({ ttl }: { ttl: ThreadTtl | undefined }): ReactNode => {
  const at = ttl?.expires_at ?? null;
  if (ttl === undefined || at === null) return null;
  return (
    <span className="muted">
      {ttl.strategy === 'delete' ? 'expires' : 'earlier checkpoints expire'} <Until at={at} />
    </span>
  );
};

export const Expiry = ({ ttl }: { ttl: ThreadTtl | undefined }): ReactNode => {
  if (ttl === undefined) return 'never';
  const { strategy, ttl_minutes: minutes, expires_at: at } = ttl;
  const span = spanText(minutes);
  if (at === null)
    return `${span} after the next change of the state: its earlier checkpoints are deleted then. Now nothing is left to delete.`;
  return (
    <>
      <Moment at={at} />
      <br />
      {strategy === 'delete'
        ? 'The thread is deleted then, with its runs and checkpoints.'
        : 'Its earlier checkpoints are deleted then; the current state stays.'}{' '}
      The time to live is {span}, and begins again after every run and every update of the state.
    </>
  );
};
