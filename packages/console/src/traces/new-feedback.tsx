import type { PlatformClient } from '@svc/sdk';
import { useState, type ReactNode } from 'react';
import { faultsOf, withFaults } from '../ui/faults.ts';
import { AreaField, FormProblems, TextField } from '../ui/form-field.tsx';
import { emptyDraft, readDraft, type FeedbackDraft } from './feedback-draft.ts';
import { useAddFeedback } from './feedback-queries.ts';

const paths = ['key', 'score', 'comment'];

export const NewFeedback = ({
  client,
  runId,
  onDone,
}: {
  client: PlatformClient;
  runId: string;
  /** `key`: of the feedback that is stored; undefined when the form is closed without one. */
  onDone: (key?: string) => void;
}): ReactNode => {
  const [draft, setDraft] = useState<FeedbackDraft>(emptyDraft);
  const [found, setFound] = useState<ReadonlyMap<string, string>>(new Map());
  const add = useAddFeedback(client, runId);
  const faults = withFaults(faultsOf(add.error, paths), found);
  const change = (changed: Partial<FeedbackDraft>): void => setDraft({ ...draft, ...changed });
  const submit = (): void => {
    const read = readDraft(draft);
    setFound('faults' in read ? read.faults : new Map());
    if ('given' in read && !add.isPending)
      add.mutate(read.given, { onSuccess: () => onDone(read.given.key) });
  };
  return (
    <form
      className="form feedback-form"
      aria-label="New feedback"
      autoComplete="off"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <TextField
        label="Key"
        hint="The criterion, such as correct or helpful."
        isFocused
        text={draft.key}
        problem={faults.at.get('key')}
        onChange={(key) => change({ key })}
      />
      <TextField
        label="Score"
        hint="A number, such as 1 for good and 0 for bad."
        text={draft.score}
        problem={faults.at.get('score')}
        onChange={(score) => change({ score })}
      />
      <AreaField
        label="Comment"
        text={draft.comment}
        problem={faults.at.get('comment')}
        onChange={(comment) => change({ comment })}
        onSubmit={submit}
      />
      <FormProblems sentences={faults.rest} />
      <div className="row">
        <button type="submit" className="button" data-kind="primary" disabled={add.isPending}>
          Save the feedback
        </button>
        <button type="button" className="button" data-kind="plain" onClick={() => onDone()}>
          Cancel
        </button>
      </div>
    </form>
  );
};
