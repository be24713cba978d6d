// Feedback on a trace run: what people and programs have said about it, and a form for more.
import type { Feedback, PlatformClient } from '@svc/sdk';
import { useState, type ReactNode } from 'react';
import { AdminButton } from '../platform/admin-button.tsx';
import { useNoWriting } from '../platform/workspaces.ts';
import { useIsLocal } from '../session/session.ts';
import { LoadOlder } from '../ui/paging.tsx';
import { ErrorNotice } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { JsonTree } from '../values/json-tree.tsx';
import { PlainText } from '../values/plain-text.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { useFeedback } from './feedback-queries.ts';
import { NewFeedback } from './new-feedback.tsx';

export const FeedbackPart = ({ client, runId }: { client: PlatformClient; runId: string }): ReactNode => {
  const query = useFeedback(client, runId);
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
      <AddFeedback client={client} runId={runId} />
    </section>
  );
};

const feedbackNeed = { what: 'Additions', role: 'editor' } as const;

const AddFeedback = ({ client, runId }: { client: PlatformClient; runId: string }): ReactNode => {
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
          client={client}
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
