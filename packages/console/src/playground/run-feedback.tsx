// Thumbs for the newest run: feedback on its trace, if the server has traced it.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { AdminButton } from '../platform/key-gate.tsx';
import { usePlatform } from '../platform/platform-access.ts';
import { useNoWriting } from '../platform/workspaces.ts';
import { Button } from '../ui/button.tsx';
import { ErrorNotice } from '../ui/states.tsx';

const need = { what: 'Additions', role: 'editor' } as const;

const thumbs = [
  { score: 1, sign: '👍', label: 'Good answer' },
  { score: 0, sign: '👎', label: 'Bad answer' },
] as const;

/** The field appears because the user has chosen a thumb. */
const focusFirst = (field: HTMLElement | null): void => field?.focus();

/** `runId`: of a run whose trace is stored. */
export const RunFeedback = ({ runId }: { runId: string }): ReactNode => {
  const client = usePlatform();
  const queries = useQueryClient();
  const readOnly = useNoWriting();
  const [score, setScore] = useState<number>();
  const [comment, setComment] = useState('');
  const send = useMutation({
    mutationFn: () =>
      client.traces.addFeedback({
        key: 'user_score',
        ...(score === undefined ? {} : { score }),
        ...(comment.trim() === '' ? {} : { comment: comment.trim() }),
        run_id: runId,
        feedback_source: { type: 'app', metadata: { page: 'console' } },
      }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['traces', 'feedback', runId] }),
  });
  if (send.isSuccess)
    return (
      <p className="muted" role="status">
        The feedback is stored with the trace.
      </p>
    );
  return (
    <form
      className="row"
      aria-label="Feedback on the answer"
      onSubmit={(event) => {
        event.preventDefault();
        send.mutate();
      }}
    >
      {thumbs.map((thumb) => (
        <AdminButton key={thumb.score} readOnly={readOnly} need={need} onPress={() => setScore(thumb.score)}>
          <span role="img" aria-label={thumb.label}>
            {thumb.sign}
          </span>
          {score === thumb.score && <span className="visually-hidden">chosen</span>}
        </AdminButton>
      ))}
      {score !== undefined && (
        <>
          <input
            className="field"
            aria-label="Comment"
            placeholder="comment, if you like"
            ref={focusFirst}
            value={comment}
            onChange={({ target }) => setComment(target.value)}
          />
          <Button type="submit" kind="primary" disabled={send.isPending}>
            Send
          </Button>
        </>
      )}
      <ErrorNotice error={send.error} />
    </form>
  );
};
