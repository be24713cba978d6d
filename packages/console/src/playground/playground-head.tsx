import { getRouteApi } from '@tanstack/react-router';
import type { Assistant } from '@svc/sdk';
import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';
import { AssistantSelect } from './assistant-select.tsx';
import { withComparison, withNewThreads } from './compared-search.ts';
import { RunStatus } from './run-status.tsx';
import { ThreadLink } from './thread-link.tsx';
import type { Conversation } from './use-conversation.ts';

const route = getRouteApi('/playground');

interface HeadProps {
  assistant: Assistant;
  all: readonly Assistant[];
  /** Of the assistant. */
  conversation: Conversation;
  isComparison: boolean;
}

export const PlaygroundHead = (props: HeadProps): ReactNode => {
  const { assistant, all, isComparison } = props;
  const navigate = route.useNavigate();
  const { thread, compareThread } = route.useSearch();
  return (
    <header className="page-head">
      <h1>Playground</h1>
      {!isComparison && <OneAssistant {...props} />}
      <div className="page-actions">
        {!isComparison && (
          <Button
            title="Send the same inputs to a second assistant, side by side"
            onClick={() =>
              void navigate({
                search: (search) => withComparison(search, assistant.assistant_id, likeOf(assistant, all)),
              })
            }
          >
            Compare
          </Button>
        )}
        <Button
          disabled={thread === undefined && compareThread === undefined}
          onClick={() => void navigate({ search: withNewThreads })}
        >
          <Icon name="plus" size={14} /> {isComparison ? 'New threads' : 'New thread'}
        </Button>
      </div>
    </header>
  );
};

/** The assistant that a comparison begins with: another one of the same graph, or the same assistant. */
const likeOf = ({ assistant_id: id, graph_id: graph }: Assistant, all: readonly Assistant[]): string =>
  all.find((other) => other.graph_id === graph && other.assistant_id !== id)?.assistant_id ?? id;

const OneAssistant = ({ assistant, all, conversation }: HeadProps): ReactNode => {
  const navigate = route.useNavigate();
  return (
    <>
      <AssistantSelect
        label="Assistant"
        assistant={assistant}
        all={all}
        onChange={(id) => void navigate({ search: ({ panel }) => ({ assistant: id, panel }) })}
      />
      <ThreadLink threadId={conversation.threadId} />
      <RunStatus conversation={conversation} />
    </>
  );
};
