// A question that a graph asks a person, and the form of the answer.
import { useState, type ReactNode } from 'react';
import { ErrorNotice } from '../ui/states.tsx';
import { JsonField } from '../values/json-field.tsx';
import { JsonTree } from '../values/json-tree.tsx';
import { Markdown } from '../values/markdown.tsx';
import { formatJson, readExactJson } from '../values/read-json.ts';
import { mayBeRounded } from '../values/rounded-integer.ts';
import { visibleText } from '../values/visible-text.ts';
import { readInterrupt, type Choice, type Question } from './read-interrupt.ts';
import './question-box.css';

/** Answers that graphs often expect. They fill the field, and are sent only when the person sends them. */
const templates = ['{ "approve": true }', '{ "approve": false }', 'true', 'false', '"…"'];

/** A draft survives a reload of the page, and ends with the tab. */
const draftKey = ({ id, node }: Question): string => `svc-console-answer-${id ?? node}`;

const useDraft = (question: Question, initial: string): [string, (text: string) => void] => {
  const key = draftKey(question);
  const [text, setText] = useState(() => sessionStorage.getItem(key) ?? initial);
  const change = (changed: string): void => {
    sessionStorage.setItem(key, changed);
    setText(changed);
  };
  return [text, change];
};

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
      <h2 className="question-title">{visibleText(form.title.slice(0, 2_000))}</h2>
      {form.description !== '' && <Markdown text={form.description} />}
      {form.args === undefined && !(typeof question.value === 'string') && (
        <div className="question-value">
          <JsonTree value={question.value} openDepth={2} />
        </div>
      )}
      {form.choices.length > 0 ? (
        <ChoiceForm choices={form.choices} args={form.args} isSending={isSending} onAnswer={onAnswer} />
      ) : (
        <JsonForm question={question} isSending={isSending} onAnswer={onAnswer} />
      )}
      <ErrorNotice error={error} />
    </section>
  );
};

const JsonForm = ({
  question,
  isSending,
  onAnswer,
}: {
  question: Question;
  isSending: boolean;
  onAnswer: (answer: unknown) => void;
}): ReactNode => {
  const [text, setText] = useDraft(question, '');
  const read = readExactJson(text);
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
      <JsonField label="Your answer, as JSON" text={text} onChange={setText} onSubmit={send} rows={3} />
      <p className="muted">The graph decides which form of answer it understands. Often used are:</p>
      <div className="row">
        <span className="chips" role="group" aria-label="Templates of answers">
          {templates.map((template) => (
            <button key={template} type="button" className="chip mono" onClick={() => setText(template)}>
              {template}
            </button>
          ))}
        </span>
        <button type="submit" className="button spread" data-kind="primary" disabled={!isReady}>
          {isSending ? 'Sending…' : 'Send answer'}
        </button>
      </div>
    </form>
  );
};

const ChoiceForm = ({
  choices,
  args,
  isSending,
  onAnswer,
}: {
  choices: readonly Choice[];
  args: unknown;
  isSending: boolean;
  onAnswer: (answer: unknown) => void;
}): ReactNode => {
  const [isRounded] = useState(() => mayBeRounded(args));
  const [edited, setEdited] = useState(() => (isRounded ? '' : formatJson(args)));
  const [text, setText] = useState('');
  const read = readExactJson(edited);
  const isWanted = (needs: Choice['needs']): boolean => choices.some((choice) => choice.needs === needs);
  const given = (choice: Choice): unknown =>
    choice.needs === 'text' ? text : choice.needs === 'args' && 'value' in read ? read.value : undefined;
  const isReady = ({ needs }: Choice): boolean =>
    !isSending &&
    (needs !== 'text' || text.trim() !== '') &&
    (needs !== 'args' || ('value' in read && read.value !== undefined));
  return (
    <div className="stack">
      {(isRounded || !isWanted('args')) && <JsonTree value={args} openDepth={2} />}
      {isRounded && isWanted('args') && (
        <p>The browser rounds an integer of these arguments. To edit them, write all of them.</p>
      )}
      {isWanted('args') && <JsonField label="Arguments" text={edited} onChange={setEdited} rows={5} />}
      {isWanted('text') && (
        <label className="stack" style={{ gap: 4 }}>
          Your words
          <textarea
            className="field"
            rows={2}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </label>
      )}
      <div className="row">
        {choices.map((choice, index) => (
          <button
            key={choice.label}
            type="button"
            className="button"
            data-kind={index === 0 ? 'primary' : undefined}
            disabled={!isReady(choice)}
            onClick={() => onAnswer(choice.answer(given(choice)))}
          >
            {choice.label}
          </button>
        ))}
      </div>
    </div>
  );
};
