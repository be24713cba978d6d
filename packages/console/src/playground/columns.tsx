// Two assistants side by side, each with its own thread and run. On a narrow screen, one of them is shown at a time.
import { getRouteApi } from '@tanstack/react-router';
import type { Assistant } from '@svc/sdk';
import type { ReactNode } from 'react';
import { useSchemas } from '../api/queries.ts';
import { isObject } from '../messages/read-messages.ts';
import { fieldsOf, messagesField } from '../graph/read-schema.ts';
import { Tabs } from '../ui/tabs.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { AssistantSelect } from './assistant-select.tsx';
import { ColumnFigures } from './column-figures.tsx';
import { sideNames, withAssistant, withoutSide, type Side } from './compared-search.ts';
import { Conversation } from './conversation.tsx';
import { RunStatus } from './run-status.tsx';
import type { Conversation as ConversationOf } from './use-conversation.ts';
import './columns.css';

const route = getRouteApi('/playground');

export interface Compared {
  assistant: Assistant;
  conversation: ConversationOf;
}

export const Columns = ({
  left,
  right,
  all,
}: {
  left: Compared;
  right: Compared;
  all: readonly Assistant[];
}): ReactNode => {
  const { column = 'left' } = route.useSearch();
  const [from, to] = [useSchemas(left.assistant.assistant_id), useSchemas(right.assistant.assistant_id)];
  const lacking = lackingFields(from.data?.input_schema, to.data?.input_schema);
  return (
    <div className="columns" data-column={column}>
      <ColumnTabs left={left} right={right} />
      <Column side="left" compared={left} other={right} all={all} lacking={[]} />
      <Column side="right" compared={right} other={left} all={all} lacking={lacking} />
    </div>
  );
};

const Column = ({
  side,
  compared: { assistant, conversation },
  other,
  all,
  lacking,
}: {
  side: Side;
  compared: Compared;
  other: Compared;
  all: readonly Assistant[];
  /** Fields of the input that the graph of this column does not take. */
  lacking: readonly string[];
}): ReactNode => {
  const navigate = route.useNavigate();
  const name = sideNames[side];
  return (
    <section className="column" data-side={side} aria-label={`${name}: ${visibleText(assistant.name)}`}>
      <header className="column-head">
        <AssistantSelect
          label={`${name} assistant`}
          assistant={assistant}
          all={all}
          onChange={(id) => void navigate({ search: (search) => withAssistant(search, side, id) })}
        />
        <RunStatus conversation={conversation} />
        <button
          type="button"
          className="button spread"
          data-kind="plain"
          aria-label={`Remove the ${side} assistant`}
          onClick={() => void navigate({ search: (search) => withoutSide(search, side) })}
        >
          Remove
        </button>
      </header>
      {lacking.length > 0 && (
        <p className="notice column-notice" data-tone="amber">
          The input schema of this assistant does not have: {visibleText(lacking.join(', '))}.
        </p>
      )}
      {conversation.threadId === undefined && other.conversation.messages.length > 0 && (
        <p className="notice column-notice">
          This column starts a new thread, without the messages of the other.
        </p>
      )}
      <Conversation assistant={assistant} conversation={conversation} />
      <ColumnFigures conversation={conversation} />
    </section>
  );
};

/** What a column does that is not shown. */
const doing = ({ isRunning, questions, error }: ConversationOf): string =>
  isRunning ? ' · running' : questions.length > 0 ? ' · waits' : error === undefined ? '' : ' · failed';

const ColumnTabs = ({ left, right }: { left: Compared; right: Compared }): ReactNode => {
  const { column = 'left' } = route.useSearch();
  const navigate = route.useNavigate();
  const labelOf = (side: Side, { assistant, conversation }: Compared): string =>
    `${sideNames[side]}: ${visibleText(assistant.name.slice(0, 20))}${doing(conversation)}`;
  return (
    <div className="column-tabs">
      <Tabs
        label="Columns"
        tabs={[
          { name: 'left', label: labelOf('left', left) },
          { name: 'right', label: labelOf('right', right) },
        ]}
        active={column}
        onChange={(next) =>
          void navigate({
            search: (search) => ({ ...search, column: next === 'left' ? undefined : next }),
            replace: true,
          })
        }
      />
    </div>
  );
};

const namesOf = (schema: unknown): string[] => {
  const conversation = messagesField(schema);
  return [...(conversation === undefined ? [] : [conversation]), ...fieldsOf(schema).map(({ name }) => name)];
};

/** Names in the input schema of a form that another input schema lacks. A schema that names no field takes any. */
export const lackingFields = (form: unknown, other: unknown): string[] => {
  if (!isObject(other) || !isObject(other['properties'])) return [];
  const taken = new Set(namesOf(other));
  return namesOf(form).filter((name) => !taken.has(name));
};
