import { Link } from '@tanstack/react-router';
import type { Assistant, Run } from '@svc/sdk';
import { useEffect, useRef, type ReactNode } from 'react';
import { QuestionBox } from '../interrupts/question-box.tsx';
import { MessageList } from '../messages/message-list.tsx';
import { Icon } from '../ui/icons.tsx';
import { ErrorNotice, Skeleton, State } from '../ui/states.tsx';
import { isBranch } from '../values/json-entries.ts';
import { ChannelList } from '../values/channel-list.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { useTraceCost } from './column-figures.tsx';
import { RunFeedback } from './run-feedback.tsx';
import type { Conversation as ConversationOf } from './use-conversation.ts';

export const Conversation = ({
  assistant,
  conversation,
}: {
  assistant: Assistant;
  conversation: ConversationOf;
}): ReactNode => {
  const { messages, values, isRunning, isBusy, isLoading } = conversation;
  const end = useRef<HTMLDivElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const length = messages.reduce((sum, { text }) => sum + text.length, messages.length);
  useEffect(() => {
    const { current } = box;
    // A person who reads earlier messages is not moved.
    if (current && current.scrollHeight - current.scrollTop - current.clientHeight < 240)
      end.current?.scrollIntoView();
  }, [length, conversation.questions.length]);
  const question = messages.findLast(({ kind }) => kind === 'human');
  const hasValues = isBranch(values) && Object.keys(values).length > 0;
  return (
    <div className="playground-scroll" ref={box} tabIndex={0} aria-label="Conversation" role="region">
      {isLoading ? (
        <Skeleton />
      ) : messages.length > 0 ? (
        <MessageList
          messages={messages}
          isStreaming={isRunning}
          onEdit={isBusy ? undefined : (message, text) => void conversation.edit(message, text)}
          onRegenerate={isBusy || !question?.id ? undefined : () => void conversation.regenerate(question)}
        />
      ) : hasValues ? (
        <div className="messages">
          <ChannelList values={values} />
        </div>
      ) : (
        !isRunning && <Welcome assistant={assistant} />
      )}
      <Notes conversation={conversation} />
      <div ref={end} />
    </div>
  );
};

const Notes = ({ conversation }: { conversation: ConversationOf }): ReactNode => {
  const { state, isRunning, isBusy, isFork, startsAtCheckpoint, questions, stoppedBefore, error, run } =
    conversation;
  const threadId = state?.checkpoint.thread_id;
  return (
    <div className="playground-notes">
      {(isFork || startsAtCheckpoint) && threadId !== undefined && (
        <p className="notice">
          <Icon name="fork" size={14} />{' '}
          {isFork ? 'Forked. The earlier branch is in the' : 'Started at a checkpoint. Branches are in the'}{' '}
          <Link to="/threads/$threadId" params={{ threadId }} search={{ tab: 'checkpoints' }}>
            checkpoints of the thread
          </Link>
        </p>
      )}
      {questions.map((question, index) => (
        <QuestionBox
          key={question.id ?? index}
          question={question}
          isSending={isBusy}
          onAnswer={(answer) => void conversation.answer(question, answer)}
        />
      ))}
      {stoppedBefore.length > 0 && (
        <p className="notice" data-tone="amber">
          Stopped before {visibleText(stoppedBefore.join(', '))}.
          <button
            type="button"
            className="button spread"
            disabled={isBusy}
            onClick={() => void conversation.resume()}
          >
            Continue
          </button>
        </p>
      )}
      {!isRunning && <ErrorNotice error={error} />}
      {!isBusy && run && <TracedFeedback run={run} />}
    </div>
  );
};

/** Nothing where the run has no trace, or the session no key for traces. */
const TracedFeedback = ({ run }: { run: Run }): ReactNode => {
  const isTraced = useTraceCost(run)?.isComplete === true;
  return isTraced && <RunFeedback key={run.run_id} runId={run.run_id} />;
};

const Welcome = ({ assistant }: { assistant: Assistant }): ReactNode => (
  <State icon="playground" title={visibleText(assistant.name)}>
    <p className="muted">
      {assistant.description === undefined || assistant.description === null
        ? 'Send an input to start a thread.'
        : visibleText(assistant.description)}
    </p>
  </State>
);
