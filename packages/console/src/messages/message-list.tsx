// A conversation: messages, tool calls with their results, reasoning.
import { useState, type ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { CopyText } from '../ui/copy.tsx';
import { Icon } from '../ui/icons.tsx';
import { LocalTime } from '../ui/time.tsx';
import { JsonTree } from '../values/json-tree.tsx';
import { Markdown } from '../values/markdown.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { MediaBox } from './media-box.tsx';
import { isBlank, type Message } from './read-messages.ts';
import { ToolCallBox } from './tool-call.tsx';
import './messages.css';

const pageSizeDefault = 100;

export interface MessageActions {
  /** Absent where messages cannot be edited. */
  onEdit?: ((message: Message, text: string) => void) | undefined;
  /** Writes the last answer again. Absent where that is not possible. */
  onRegenerate?: (() => void) | undefined;
}

/** Messages before those in the page. */
export interface Earlier {
  count: number;
  load: () => void;
}

/** The newest messages; earlier ones on request. */
export const MessageList = ({
  messages,
  earlier,
  isStreaming = false,
  label = 'Conversation',
  pageSize = pageSizeDefault,
  noAnswer,
  onEdit,
  onRegenerate,
}: {
  messages: readonly Message[];
  earlier?: Earlier;
  isStreaming?: boolean;
  label?: string;
  pageSize?: number;
  /** Text of a tool call that none of the messages answers. */
  noAnswer?: string;
} & MessageActions): ReactNode => {
  const [shown, setShown] = useState(pageSize);
  const hidden = Math.max(0, messages.length - shown);
  const before = hidden + (earlier?.count ?? 0);
  const showMore = (): void => {
    setShown(shown + pageSize);
    if (earlier && hidden < pageSize && earlier.count > 0) earlier.load();
  };
  const answers = new Map(messages.map((message) => [message.toolCallId, message]));
  const asked = new Set(messages.flatMap(({ toolCalls }) => toolCalls.map(({ id }) => id)));
  // A call without an id has no answer, and most messages answer no call.
  answers.delete(undefined);
  asked.delete(undefined);
  const visible = messages
    .slice(hidden)
    // The result of a call is shown with the call.
    .filter(({ kind, toolCallId }) => kind !== 'tool' || !asked.has(toolCallId));
  return (
    <div className="messages" role="log" aria-label={label}>
      {before > 0 && <Button onClick={showMore}>{before} earlier messages</Button>}
      {visible.map((message, index) => (
        <MessageBox
          key={message.id ?? index}
          message={message}
          answers={answers}
          noAnswer={noAnswer}
          isWriting={isStreaming && index === visible.length - 1 && message.kind === 'ai'}
          onEdit={onEdit}
          onRegenerate={index === visible.length - 1 ? onRegenerate : undefined}
        />
      ))}
    </div>
  );
};

const labels: Record<Message['kind'], string> = {
  human: 'You',
  ai: 'Agent',
  tool: 'Tool',
  system: 'System',
  other: 'Message',
};

const MessageBox = ({
  message,
  answers,
  noAnswer,
  isWriting,
  onEdit,
  onRegenerate,
}: {
  message: Message;
  answers: ReadonlyMap<string | undefined, Message>;
  noAnswer: string | undefined;
  isWriting: boolean;
} & MessageActions): ReactNode => {
  const [isEditing, setEditing] = useState(false);
  const { kind, text, reasoning, toolCalls, media } = message;
  const canEdit = onEdit !== undefined && kind === 'human' && message.id !== undefined && !isEditing;
  return (
    <article className="message" data-kind={kind}>
      <MessageHead
        message={message}
        isWriting={isWriting}
        onRegenerate={onRegenerate}
        onEdit={canEdit ? () => setEditing(true) : undefined}
      />
      {isEditing && onEdit ? (
        <EditBox
          text={text}
          onCancel={() => setEditing(false)}
          onSave={(edited) => {
            setEditing(false);
            onEdit(message, edited);
          }}
        />
      ) : (
        <>
          {reasoning !== '' && (
            <details className="reasoning">
              <summary>Reasoning</summary>
              <MessageText text={reasoning} />
            </details>
          )}
          {(text !== '' || isWriting) && (
            <div className="message-text" data-writing={isWriting}>
              <MessageText text={text} />
            </div>
          )}
          <FirstOf all={media}>{(one, index) => <MediaBox key={index} media={one} />}</FirstOf>
          <FirstOf all={toolCalls}>
            {(call, index) => (
              <ToolCallBox key={index} call={call} answer={answers.get(call.id)} noAnswer={noAnswer} />
            )}
          </FirstOf>
          {((kind === 'other' && text === '') || (!isWriting && isBlank(message))) && (
            <JsonTree value={message.raw} openDepth={0} />
          )}
        </>
      )}
    </article>
  );
};

const MessageHead = ({
  message: { kind, name, text, usage, model, at },
  isWriting,
  onRegenerate,
  onEdit,
}: {
  message: Message;
  isWriting: boolean;
  onRegenerate: (() => void) | undefined;
  /** Opens the message for editing. */
  onEdit: (() => void) | undefined;
}): ReactNode => (
  <header className="message-head">
    <span className="message-who">{name === undefined ? labels[kind] : visibleText(name.slice(0, 200))}</span>
    {model !== undefined && <span className="muted">{visibleText(model.slice(0, 100))}</span>}
    {at !== undefined && (
      <span className="muted">
        <LocalTime at={at} />
      </span>
    )}
    {usage && (
      <span className="muted" title="Tokens that were read and written">
        {usage.input} → {usage.output} tokens
      </span>
    )}
    {text !== '' && !isWriting && <CopyText text={text} shown="Copy" label="message" />}
    {kind === 'ai' && onRegenerate && (
      <button
        type="button"
        className="button message-action"
        data-kind="plain"
        title="Run again from the checkpoint before your last message"
        onClick={onRegenerate}
      >
        <Icon name="rerun" size={13} /> Regenerate
      </button>
    )}
    {onEdit && (
      <button
        type="button"
        className="button message-action"
        data-kind="plain"
        title="Edit this message and run again from here"
        onClick={onEdit}
      >
        <Icon name="edit" size={13} /> Edit
      </button>
    )}
  </header>
);

/** Calls of tools, or images and files, of one message that are shown at once. */
const partsMax = 50;

/** The first elements, and a button for more of them. */
const FirstOf = <Element,>({
  all,
  children,
}: {
  all: readonly Element[];
  children: (element: Element, index: number) => ReactNode;
}): ReactNode => {
  const [shown, setShown] = useState(partsMax);
  return (
    <>
      {all.slice(0, shown).map(children)}
      {all.length > shown && (
        <Button kind="plain" onClick={() => setShown(shown + partsMax)}>
          {all.length - shown} more
        </Button>
      )}
    </>
  );
};

const EditBox = ({
  text,
  onSave,
  onCancel,
}: {
  text: string;
  onSave: (text: string) => void;
  onCancel: () => void;
}): ReactNode => {
  const [edited, setEdited] = useState(text);
  return (
    <div className="stack">
      <textarea
        className="field"
        dir="auto"
        aria-label="Edited message"
        // The field appears because the user requested it.
        ref={(field) => field?.focus()}
        value={edited}
        onChange={(event) => setEdited(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onCancel();
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onSave(edited);
        }}
      />
      <div className="row">
        <Button kind="primary" onClick={() => onSave(edited)}>
          <Icon name="fork" size={13} /> Fork and run
        </Button>
        <Button onClick={onCancel}>Back</Button>
        <span className="muted">The messages after it stay in the earlier branch.</span>
      </div>
    </div>
  );
};

/** A longer text is cut: the browser would need seconds to lay it out. */
const charsMax = 50_000;

const MessageText = ({ text }: { text: string }): ReactNode => {
  const [isWhole, setWhole] = useState(false);
  if (isWhole || text.length <= charsMax) return <Markdown text={text} />;
  return (
    <>
      <Markdown text={text.slice(0, charsMax)} />
      <Button kind="plain" onClick={() => setWhole(true)}>
        {text.length - charsMax} more characters
      </Button>
    </>
  );
};
