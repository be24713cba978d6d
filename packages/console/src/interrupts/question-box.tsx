// A question that a graph asks a person, and the form of the answer.
import { type ComponentProps, type ReactNode, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { AreaField } from '../ui/form-field.tsx';
import { ErrorNotice } from '../ui/states.tsx';
import { useDraft } from '../ui/use-draft.ts';
import { visibleText } from '../ui/visible-text.ts';
import { JsonField } from '../values/json-field.tsx';
import { JsonTree } from '../values/json-tree.tsx';
import { Markdown } from '../values/markdown.tsx';
import { formatJson, mayBeRounded, readExactJson } from '../values/read-json.ts';
import { type Action, type Choice, type Form, type Question, readInterrupt } from './read-interrupt.ts';
import './question-box.css';

/** Answers that graphs often expect. They fill the field, and are sent only when the person sends them. */
const templates = ['{ "approve": true }', '{ "approve": false }', 'true', 'false', '"…"'];

const titleMax = 2_000;

/** The key of the drafts of an answer. */
const draftKey = ({ id, node }: Question): string => `answer-${id ?? node}`;

export const QuestionBox = ({
  question,
  isSending,
  error,
  onAnswer,
}: {
  question: Question;
  isSending: boolean;
  error?: Error | null | undefined;
  onAnswer: (answer: unknown) => void;
}): ReactNode => {
  const form = readInterrupt(question.value);
  return (
    <section className="question" tabIndex={-1} aria-label={`Question of ${visibleText(question.node)}`}>
      <header className="row">
        <span className="badge" data-tone="amber">
          waiting for you
        </span>
        <span className="muted">
          node <code>{visibleText(question.node)}</code>
        </span>
      </header>
      <div role="heading" aria-level={2} className="question-title">
        <Markdown text={form.title.slice(0, titleMax)} />
      </div>
      {!form.actions.some(({ args }) => args !== undefined) && typeof question.value !== 'string' && (
        <div className="question-value">
          <JsonTree value={question.value} openDepth={2} />
        </div>
      )}
      {form.actions.length > 0 && form.actions.every(({ choices }) => choices.length > 0) ? (
        <ActionsForm form={form} draft={draftKey(question)} isSending={isSending} onAnswer={onAnswer} />
      ) : (
        <FreeForm question={question} isSending={isSending} onAnswer={onAnswer} />
      )}
      <ErrorNotice error={error} />
    </section>
  );
};

/** Any value is an answer. A question that is a text is answered with a text, unless the person chooses JSON. */
const FreeForm = ({
  question,
  isSending,
  onAnswer,
}: {
  question: Question;
  isSending: boolean;
  onAnswer: (answer: unknown) => void;
}): ReactNode => {
  const [text, setText] = useDraft(draftKey(question), '');
  const [form, setForm] = useDraft(
    `${draftKey(question)}-form`,
    typeof question.value === 'string' ? 'text' : 'json',
  );
  const isText = form === 'text';
  const read = isText ? { value: text.trim() === '' ? undefined : text } : readExactJson(text);
  const isReady = 'value' in read && read.value !== undefined && !isSending;
  const send = (): void => {
    if (isReady) onAnswer(read.value);
  };
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <div data-answer-key="r">
        {isText ? (
          <AreaField label="Your answer" value={text} onChange={setText} onSubmit={send} />
        ) : (
          <JsonField label="Your answer, as JSON" value={text} onChange={setText} onSubmit={send} rows={3} />
        )}
      </div>
      {!isText && (
        <p className="muted">The graph decides which form of answer it understands. Often used are:</p>
      )}
      <div className="row">
        {!isText && (
          <span className="chips" role="group" aria-label="Templates of answers">
            {templates.map((template) => (
              <button key={template} type="button" className="chip mono" onClick={() => setText(template)}>
                {template}
              </button>
            ))}
          </span>
        )}
        <Button kind="plain" onClick={() => setForm(isText ? 'json' : 'text')}>
          {isText ? 'Answer with JSON' : 'Answer with text'}
        </Button>
        <button type="submit" className="button spread" data-kind="primary" disabled={!isReady}>
          {isSending ? 'Sending…' : 'Send answer'}
        </button>
      </div>
    </form>
  );
};

/** One action is answered by its button. Several are decided one by one, and sent together. */
const ActionsForm = ({
  form,
  draft,
  isSending,
  onAnswer,
}: {
  form: Form;
  draft: string;
  isSending: boolean;
  onAnswer: (answer: unknown) => void;
}): ReactNode => {
  const { actions, answer } = form;
  const [decided, setDecided] = useState<ReadonlyMap<number, Decided>>(new Map());
  if (actions.length === 1)
    return (
      <ActionForm
        action={actions[0]!}
        draft={draft}
        isDisabled={isSending}
        onDecide={({ decision }) => onAnswer(answer([decision]))}
      />
    );
  return (
    <div className="stack">
      {actions.map((action, index) => (
        <section
          // The actions of a question do not change.
          key={index}
          className="stack question-action"
          aria-label={`Action ${index + 1} of ${actions.length}`}
        >
          <h3>{visibleText(action.title)}</h3>
          <ActionForm
            action={action}
            draft={`${draft}-${index}`}
            chosen={decided.get(index)?.label}
            isDisabled={isSending}
            onDecide={(decision) => setDecided((before) => new Map([...before, [index, decision]]))}
            onEdit={() => setDecided((before) => new Map([...before].filter(([other]) => other !== index)))}
          />
        </section>
      ))}
      <div className="row">
        <span className="muted">
          {decided.size} of {actions.length} decided
        </span>
        <button
          type="button"
          className="button spread"
          data-kind="primary"
          disabled={isSending || decided.size < actions.length}
          onClick={() => onAnswer(answer(actions.map((_, index) => decided.get(index)?.decision)))}
        >
          {isSending ? 'Sending…' : 'Send decisions'}
        </button>
      </div>
    </div>
  );
};

interface Decided {
  label: string;
  decision: unknown;
}

/** `Ignore` needs nothing either. */
const isConsent = ({ label }: Choice): boolean => label === 'Approve' || label === 'Accept';

const ActionForm = ({
  action: { description, args, choices },
  draft,
  chosen,
  isDisabled,
  onDecide,
  onEdit = () => undefined,
}: {
  action: Action;
  draft: string;
  /** The label of the choice, where choices are sent later. */
  chosen?: string | undefined;
  isDisabled: boolean;
  onDecide: (decided: Decided) => void;
  /** Called when a text of the form changes: an earlier decision does not have it. */
  onEdit?: () => void;
}): ReactNode => {
  const [isRounded] = useState(() => mayBeRounded(args));
  const [edited, setEdited] = useDraft(`${draft}-args`, isRounded ? '' : formatJson(args));
  const [text, setText] = useDraft(`${draft}-text`, '');
  const read = readExactJson(edited);
  const isWanted = (needs: Choice['needs']): boolean => choices.some((choice) => choice.needs === needs);
  const given = (choice: Choice): unknown =>
    choice.needs === 'text' ? text : choice.needs === 'args' && 'value' in read ? read.value : undefined;
  const isReady = ({ needs }: Choice): boolean =>
    !isDisabled &&
    (needs !== 'text' || text.trim() !== '') &&
    (needs !== 'args' || ('value' in read && read.value !== undefined));
  const press = (choice: Choice): void =>
    onDecide({ label: choice.label, decision: choice.decide(given(choice)) });
  /** Decides by what was written, where one choice takes it. */
  const pressOnly = (needs: Choice['needs']): void => {
    const [only, ...others] = choices.filter((choice) => choice.needs === needs);
    if (only && others.length === 0 && isReady(only)) press(only);
  };
  return (
    <div className="stack">
      {description !== '' && <Markdown text={description} />}
      {args !== undefined && (isRounded || !isWanted('args')) && <JsonTree value={args} openDepth={2} />}
      {isRounded && isWanted('args') && (
        <p>The browser rounds an integer of these arguments. To edit them, write all of them.</p>
      )}
      {isWanted('args') && (
        <div data-answer-key="e">
          <JsonField
            label="Arguments"
            value={edited}
            onChange={(changed) => {
              setEdited(changed);
              onEdit();
            }}
            onSubmit={() => pressOnly('args')}
            rows={5}
          />
        </div>
      )}
      {isWanted('text') && (
        <WordsField
          value={text}
          onChange={(changed) => {
            setText(changed);
            onEdit();
          }}
          onSubmit={() => pressOnly('text')}
        />
      )}
      <div className="row">
        {choices.map((choice) => (
          <Button
            key={choice.label}
            kind={(chosen ?? choices[0]?.label) === choice.label ? 'primary' : undefined}
            aria-pressed={chosen === undefined ? undefined : chosen === choice.label}
            disabled={!isReady(choice)}
            data-answer-key={isConsent(choice) ? 'a' : undefined}
            onClick={() => press(choice)}
          >
            {choice.label}
          </Button>
        ))}
      </div>
    </div>
  );
};

const WordsField = (
  field: Pick<ComponentProps<typeof AreaField>, 'value' | 'onChange' | 'onSubmit'>,
): ReactNode => (
  <div data-answer-key="r">
    <AreaField label="Your words" {...field} />
  </div>
);
