import { useQueryClient } from '@tanstack/react-query';
import type { PlatformClient } from '@svc/sdk';
import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { AreaField, TextField } from '../ui/form-field.tsx';
import { FormFields, useForm } from '../ui/form.tsx';
import { emptyDraft, feedbackOf, problemsOf } from './feedback-draft.ts';
import { feedbackKey } from './feedback-queries.ts';

/** Stock clients name feedback of people in a page by this type. */
const source = { type: 'app', metadata: { page: 'console' } };

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
  const queries = useQueryClient();
  const form = useForm({
    initial: emptyDraft,
    paths: { key: 'key', score: 'score', comment: 'comment' },
    problemsOf,
    send: (draft) =>
      client.traces.addFeedback({ ...feedbackOf(draft), run_id: runId, feedback_source: source }),
    onSent: async ({ key }) => {
      await queries.invalidateQueries({ queryKey: feedbackKey(runId) });
      onDone(key);
    },
  });
  const { field, submit, isBusy, problems } = form;
  const actions = (
    <div className="row">
      <Button kind="primary" disabled={isBusy} onClick={() => submit()}>
        Save the feedback
      </Button>
      <Button kind="plain" onClick={() => onDone()}>
        Cancel
      </Button>
    </div>
  );
  return (
    <FormFields
      label="New feedback"
      className="feedback-form"
      problems={problems}
      onSubmit={submit}
      actions={actions}
    >
      <TextField label="Key" hint="The criterion, such as correct or helpful." isFocused {...field('key')} />
      <TextField label="Score" hint="A number, such as 1 for good and 0 for bad." {...field('score')} />
      <AreaField label="Comment" {...field('comment')} onSubmit={submit} />
    </FormFields>
  );
};
