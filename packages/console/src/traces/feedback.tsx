// Feedback on a trace run: what people and programs have said about it, and a form for more.
import type { Feedback } from '@svc/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { type PagedQuery, usePagedQuery } from '../api/paged-query.ts';
import { AdminButton } from '../platform/key-gate.tsx';
import { usePlatform } from '../platform/platform-access.ts';
import { useNoWriting } from '../platform/workspaces.ts';
import { useIsLocal } from '../session/session.ts';
import { Button } from '../ui/button.tsx';
import { AreaField, TextField } from '../ui/form-field.tsx';
import { FormFields, useForm } from '../ui/form.tsx';
import { LoadOlder } from '../ui/paging.tsx';
import { ErrorNotice } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { JsonTree } from '../values/json-tree.tsx';
import { PlainText } from '../values/plain-text.tsx';

export const FeedbackPart = ({ runId }: { runId: string }): ReactNode => {
  const query = useFeedback(runId);
  const feedback = query.data?.pages.flat();
  return (
    <section className="stack" aria-label="Feedback">
      <h3>Feedback</h3>
      <ErrorNotice error={query.error} />
      {feedback?.length === 0 && <p className="muted">none</p>}
      {feedback && feedback.length > 0 && (
        <ul className="feedback-list">
          {feedback.map((one) => (
            <FeedbackEntry key={one.id} feedback={one} />
          ))}
        </ul>
      )}
      <LoadOlder query={query} label="Load older feedback" />
      <AddFeedback runId={runId} />
    </section>
  );
};

const feedbackNeed = { what: 'Additions', role: 'editor' } as const;

const AddFeedback = ({ runId }: { runId: string }): ReactNode => {
  const [isOpen, setOpen] = useState(false);
  const [added, setAdded] = useState('');
  const refusal = useNoWriting();
  const isLocal = useIsLocal();
  if (refusal !== undefined && !isLocal)
    return <p className="muted">You cannot add feedback. {visibleText(refusal)}.</p>;
  return (
    <>
      {isOpen ? (
        <NewFeedback
          runId={runId}
          onDone={(key) => {
            setOpen(false);
            if (key !== undefined) setAdded(`Feedback ${key} is stored.`);
          }}
        />
      ) : (
        <div>
          <AdminButton
            readOnly={refusal}
            need={feedbackNeed}
            onPress={() => {
              setAdded('');
              setOpen(true);
            }}
          >
            Add feedback
          </AdminButton>
        </div>
      )}
      {/* Screen readers announce a change of an element that is there already. */}
      <p role="status">{visibleText(added)}</p>
    </>
  );
};

const isGiven = (value: unknown): boolean => value !== null && value !== undefined;

const FeedbackEntry = ({ feedback }: { feedback: Feedback }): ReactNode => {
  const { key, score, value, correction, comment, created_at: at } = feedback;
  const source = feedback.feedback_source['type'];
  return (
    <li className="feedback">
      <div className="row">
        <strong className="feedback-key">{visibleText(key)}</strong>
        {score !== null && <span className="badge">{score}</span>}
        <span className="muted spread">
          {typeof source === 'string' && source !== '' && <>{visibleText(source.slice(0, 60))} · </>}
          <Ago at={at} />
        </span>
      </div>
      {comment !== null && comment !== '' && <PlainText text={comment} />}
      {isGiven(value) && <FeedbackValue label="Value" value={value} />}
      {isGiven(correction) && <FeedbackValue label="Correction" value={correction} />}
    </li>
  );
};

const FeedbackValue = ({ label, value }: { label: string; value: unknown }): ReactNode => (
  <div className="feedback-value">
    <span className="muted">{label}</span>
    <JsonTree value={value} />
  </div>
);

const pageSize = 20;

const feedbackKey = (runId: string): string[] => ['traces', 'feedback', runId];

/** Feedback on a trace run, newest first. */
const useFeedback = (runId: string): PagedQuery<Feedback[]> => {
  const client = usePlatform();
  return usePagedQuery({
    queryKey: feedbackKey(runId),
    read: (offset: number = 0, call) =>
      client.traces.feedback({ run: [runId], limit: pageSize, offset }, call),
    next: (last, pages) => (last.length < pageSize ? undefined : pages.length * pageSize),
    staleTime: 10_000,
  });
};

/** Stock clients name feedback of people in a page by this type. */
const source = { type: 'app', metadata: { page: 'console' } };

const NewFeedback = ({
  runId,
  onDone,
}: {
  runId: string;
  /** `key`: of the feedback that is stored; undefined when the form is closed without one. */
  onDone: (key?: string) => void;
}): ReactNode => {
  const queries = useQueryClient();
  const client = usePlatform();
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

// Feedback as it is entered, and what has to be corrected before it is sent.
interface FeedbackDraft {
  key: string;
  /** A number as a text; empty for feedback without a score. */
  score: string;
  comment: string;
}

export const emptyDraft: FeedbackDraft = { key: '', score: '', comment: '' };

/** What has to be corrected before the feedback is sent, by field. */
export const problemsOf = (draft: FeedbackDraft): ReadonlyMap<string, string> => {
  const [score, comment] = [draft.score.trim(), draft.comment.trim()];
  const problems = new Map<string, string>();
  if (draft.key.trim() === '') problems.set('key', 'Name what the feedback is about.');
  if (score !== '' && !(/^[+-]?(?:\d+\.?\d*|\.\d+)$/.test(score) && Number.isFinite(Number(score))))
    problems.set('score', 'The score must be a number, such as 1 or 0.5.');
  if (score === '' && comment === '') problems.set('score', 'Enter a score, a comment, or both.');
  return problems;
};

/** The request, for a draft without problems. */
export const feedbackOf = (draft: FeedbackDraft): { key: string; score?: number; comment?: string } => {
  const [key, score, comment] = [draft.key.trim(), draft.score.trim(), draft.comment.trim()];
  return { key, ...(score !== '' && { score: Number(score) }), ...(comment !== '' && { comment }) };
};
