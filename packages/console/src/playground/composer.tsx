// The input of the next run: a message, a form, or JSON, as the schema of the graph says.
import { useMemo, useRef, useState, type ReactNode } from 'react';
import { fieldsOf, messagesField } from '../schemas/read-schema.ts';
import { readDraft, SchemaForm, type Draft } from '../schemas/schema-form.tsx';
import { Icon } from '../ui/icons.tsx';
import { JsonField } from '../values/json-field.tsx';
import { formatJson, readJson } from '../values/read-json.ts';
import { isObject } from '../messages/read-messages.ts';

interface ComposerProps {
  schema: unknown;
  isBusy: boolean;
  /** Why the settings of the run cannot be sent. */
  problem: string | undefined;
  onSend: (input: Record<string, unknown>) => void;
}

export const Composer = ({ schema, isBusy, problem, onSend }: ComposerProps): ReactNode => {
  const [isJson, setJson] = useState(false);
  const [message, setMessage] = useState('');
  const [draft, setDraft] = useState<Draft>({});
  const [text, setText] = useState('');
  const conversation = messagesField(schema);
  const fields = useMemo(() => fieldsOf(schema), [schema]);
  const field = useRef<HTMLTextAreaElement>(null);

  const read = isJson ? readInput(text) : readForm({ fields, draft, conversation, message });
  const wrong = problem ?? ('problem' in read ? read.problem : undefined);
  const isEmpty = !isJson && conversation !== undefined && message.trim() === '';
  const send = (): void => {
    if (isBusy || isEmpty || problem !== undefined || !('value' in read)) return;
    onSend(read.value);
    setMessage('');
    field.current?.focus();
  };
  const toggle = (): void => {
    if (!isJson && 'value' in read) setText(formatJson(read.value));
    setJson(!isJson);
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {isJson ? (
        <JsonField label="Input, as JSON" text={text} onChange={setText} onSubmit={send} />
      ) : (
        <>
          {conversation !== undefined && (
            <textarea
              ref={field}
              className="field composer-message"
              aria-label="Message"
              placeholder="Write a message"
              rows={2}
              value={message}
              onChange={(event) => setMessage(event.target.value)}
              onKeyDown={(event) => {
                if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
                event.preventDefault();
                send();
              }}
            />
          )}
          {fields.length > 0 &&
            (conversation === undefined ? (
              <SchemaForm fields={fields} draft={draft} onChange={setDraft} />
            ) : (
              <details>
                <summary className="muted">More input ({fields.length})</summary>
                <SchemaForm fields={fields} draft={draft} onChange={setDraft} />
              </details>
            ))}
        </>
      )}
      <div className="row">
        <button type="button" className="chip" aria-pressed={isJson} onClick={toggle}>
          JSON
        </button>
        <span className="muted">
          {wrong ?? (conversation === undefined ? '' : 'Enter sends, Shift Enter breaks the line')}
        </span>
        <button
          type="submit"
          className="button spread"
          data-kind="primary"
          disabled={isBusy || isEmpty || wrong !== undefined}
        >
          <Icon name="send" size={14} /> {conversation === undefined || isJson ? 'Run' : 'Send'}
        </button>
      </div>
    </form>
  );
};

const readInput = (text: string): { value: Record<string, unknown> } | { problem: string } => {
  const read = readJson(text);
  if ('problem' in read) return read;
  return isObject(read.value) ? { value: read.value } : { problem: 'The input must be an object.' };
};

const readForm = ({
  fields,
  draft,
  conversation,
  message,
}: {
  fields: ReturnType<typeof fieldsOf>;
  draft: Draft;
  conversation: string | undefined;
  message: string;
}): { value: Record<string, unknown> } | { problem: string } => {
  const read = readDraft(fields, draft);
  if ('problem' in read || conversation === undefined) return read;
  // The id makes the message in the state the one that is shown already.
  const sent = { type: 'human', content: message, id: crypto.randomUUID() };
  return { value: { ...read.value, [conversation]: [sent] } };
};
