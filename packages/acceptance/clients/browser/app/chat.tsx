// What both pages show of a hook: the messages, what it waits for, and buttons.
import { useState, type ReactNode } from 'react';

export interface ChatProps {
  messages: { type: string; text: string }[];
  isLoading: boolean;
  question: string | undefined;
  error: unknown;
  send: (text: string) => void;
  answer: (reply: string) => void;
  stop: () => void;
}

const errorText = (error: unknown): string => {
  if (error === undefined || error === null) return '';
  return error instanceof Error ? error.message : JSON.stringify(error);
};

export const Chat = ({ messages, isLoading, question, error, send, answer, stop }: ChatProps): ReactNode => {
  const [text, setText] = useState('');
  return (
    <main data-loading={isLoading}>
      <ol>
        {messages.map(({ type, text }, at) => (
          <li key={at}>{`${type}: ${text}`}</li>
        ))}
      </ol>
      {question === undefined ? null : (
        <p role="alertdialog">
          {question} <button onClick={() => answer('yes')}>Approve</button>
        </p>
      )}
      <p role="alert">{errorText(error)}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setText('');
          send(text);
        }}
      >
        <input aria-label="Message" value={text} onChange={({ target }) => setText(target.value)} />
        <button type="submit">Send</button>
      </form>
      <button onClick={stop}>Stop</button>
    </main>
  );
};
