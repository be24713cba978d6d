// The input of the next run: a message, a form, or JSON, as the schema of the graph says.
import { useMemo, useRef, type ComponentProps, type ReactNode, type RefObject } from 'react';
import { fieldsOf, messagesField } from '../graph/read-schema.ts';
import { readDraft, SchemaForm, type Draft } from '../graph/schema-form.tsx';
import { Icon } from '../ui/icons.tsx';
import { useDraft, useFieldsDraft } from '../ui/use-draft.ts';
import { JsonField } from '../values/json-field.tsx';
import { formatJson, readExactObject } from '../values/read-json.ts';
import { type Attachments, AttachmentRow, useAttachments } from './attachment-row.tsx';
import { contentOf } from './attachments.ts';
import { DropNotice, FoldedComposer, useFolding } from './composer-folding.tsx';

interface ComposerProps {
  /** Its drafts are those of this assistant. */
  assistantId: string;
  schema: unknown;
  /** `into`: a run executes, which takes what is sent. `none`: nothing can be sent. */
  sending: 'run' | 'into' | 'none';
  /** How many questions of the thread, or of both threads, are open. */
  questions: number;
  /** Why the settings of the run cannot be sent. */
  problem: string | undefined;
  /** Resolves with false when no run was created: the message is written into its field again. */
  onSend: (input: Record<string, unknown>) => Promise<boolean>;
  /** A question is open, and the focus was here. */
  onFold: () => void;
}

export const Composer = ({
  assistantId,
  schema,
  sending,
  questions,
  problem,
  onSend,
  onFold,
}: ComposerProps): ReactNode => {
  const key = `input-${assistantId}`;
  const [mode, setMode] = useDraft(`${key}-mode`, 'form');
  const [message, setMessage] = useDraft(key, '');
  const [draft, setDraft] = useFieldsDraft<Draft>(`${key}-fields`, {});
  const [text, setText] = useDraft(`${key}-json`, '');
  const isJson = mode === 'json';
  const conversation = messagesField(schema);
  const fields = useMemo(() => fieldsOf(schema), [schema]);
  const field = useRef<HTMLTextAreaElement>(null);

  const files = useAttachments();
  const hasDraft = message.trim() !== '' || files.attached.length > 0;
  const folding = useFolding({ questions, hasDraft, onFold });

  const read = isJson
    ? readInput(text)
    : readForm({ fields, draft, conversation, content: contentOf(message, files.attached) });
  const wrong = problem ?? ('problem' in read ? read.problem : undefined);
  const isEmpty = !isJson && conversation !== undefined && !hasDraft;
  const send = (): void => {
    if (sending === 'none' || isEmpty || problem !== undefined || !('value' in read)) return;
    void onSend(read.value).then((isTaken) => {
      if (isTaken) return;
      setMessage((now) => (now === '' ? message : now));
      files.restore(files.attached);
    });
    setMessage('');
    files.clear();
    field.current?.focus();
  };
  const toggle = (): void => {
    if (!isJson && 'value' in read) setText(formatJson(read.value));
    setMode(isJson ? 'form' : 'json');
  };
  return (
    <>
      {folding.isFolded && <FoldedComposer questions={questions} onUnfold={folding.unfold} />}
      <form
        ref={folding.form}
        className="composer"
        hidden={folding.isFolded}
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        {questions > 0 && <DropNotice questions={questions} onFold={folding.fold} />}
        {isJson ? (
          <JsonField label="Input, as JSON" value={text} onChange={setText} onSubmit={send} />
        ) : (
          <>
            {conversation !== undefined && (
              <MessageField ref={field} message={message} onChange={setMessage} onSend={send} files={files} />
            )}
            <MoreInput
              isAlone={conversation === undefined}
              fields={fields}
              draft={draft}
              onChange={setDraft}
            />
          </>
        )}
        <SendRow
          hint={wrong ?? (conversation === undefined ? '' : 'Enter sends, Shift Enter breaks the line')}
          action={actionOf(sending, conversation === undefined || isJson)}
          isDisabled={sending === 'none' || isEmpty || wrong !== undefined}
          isJson={isJson}
          onToggle={toggle}
        />
      </form>
    </>
  );
};

const actionOf = (sending: ComposerProps['sending'], isRun: boolean): string =>
  sending === 'into' ? 'Send into the run' : isRun ? 'Run' : 'Send';

/** The fields beside the message, or all of a graph without a conversation. */
const MoreInput = ({
  isAlone,
  ...form
}: { isAlone: boolean } & Pick<
  ComponentProps<typeof SchemaForm>,
  'fields' | 'draft' | 'onChange'
>): ReactNode => {
  const { fields } = form;
  if (fields.length === 0) return null;
  if (isAlone) return <SchemaForm {...form} />;
  return (
    // A required field is in sight.
    <details open={fields.some(({ isRequired }) => isRequired)}>
      <summary className="muted">More input ({fields.length})</summary>
      <SchemaForm {...form} />
    </details>
  );
};

const MessageField = ({
  ref,
  message,
  onChange,
  onSend,
  files,
}: {
  ref: RefObject<HTMLTextAreaElement | null>;
  message: string;
  onChange: (message: string) => void;
  onSend: () => void;
  files: Attachments;
}): ReactNode => (
  <>
    <textarea
      ref={ref}
      className="field composer-message"
      dir="auto"
      aria-label="Message"
      placeholder="Write a message"
      rows={2}
      value={message}
      onChange={(event) => onChange(event.target.value)}
      onPaste={({ clipboardData }) => files.add([...clipboardData.files])}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        if (event.dataTransfer.files.length === 0) return;
        event.preventDefault();
        files.add([...event.dataTransfer.files]);
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
        event.preventDefault();
        onSend();
      }}
    />
    <AttachmentRow files={files} />
  </>
);

const SendRow = ({
  hint,
  action,
  isDisabled,
  isJson,
  onToggle,
}: {
  hint: string;
  action: string;
  isDisabled: boolean;
  isJson: boolean;
  /** Between the form and the input as JSON. */
  onToggle: () => void;
}): ReactNode => (
  <div className="row">
    <button type="button" className="chip" aria-pressed={isJson} onClick={onToggle}>
      JSON
    </button>
    <span className="muted">{hint}</span>
    <button type="submit" className="button spread" data-kind="primary" disabled={isDisabled}>
      <Icon name="send" size={14} /> {action}
    </button>
  </div>
);

export const readInput = (text: string): { value: Record<string, unknown> } | { problem: string } =>
  readExactObject(text, 'The input must be an object.');

export const readForm = ({
  fields,
  draft,
  conversation,
  content,
}: {
  fields: ReturnType<typeof fieldsOf>;
  draft: Draft;
  conversation: string | undefined;
  /** Of the message. */
  content: unknown;
}): { value: Record<string, unknown> } | { problem: string } => {
  const read = readDraft(fields, draft);
  if ('problem' in read || conversation === undefined) return read;
  // The page already shows this message. The id lets the page find the same message in the state.
  const sent = { type: 'human', content, id: crypto.randomUUID() };
  return { value: { ...read.value, [conversation]: [sent] } };
};
