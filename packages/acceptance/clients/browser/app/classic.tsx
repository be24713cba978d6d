// A chat with `useStream` of @langchain/langgraph-sdk: run streams, joined again after a reload.
import type { Message } from '@langchain/langgraph-sdk';
import { useStream } from '@langchain/langgraph-sdk/react';
import { useState, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { apiUrl, defaultHeaders, questionOf, rememberThread, threadId as first } from './address.ts';
import { Chat } from './chat.tsx';

const textOf = ({ content }: Message): string =>
  typeof content === 'string'
    ? content
    : content.map((block) => ('text' in block ? block.text : '')).join('');

const App = (): ReactNode => {
  const [threadId, setThreadId] = useState(first);
  const stream = useStream<{ messages?: Message[] }>({
    apiUrl,
    defaultHeaders,
    assistantId: 'agent',
    threadId,
    onThreadId: (id) => {
      setThreadId(id);
      rememberThread(id);
    },
    reconnectOnMount: true,
    fetchStateHistory: true,
  });
  return (
    <Chat
      messages={stream.messages.map((message) => ({ type: message.type, text: textOf(message) }))}
      isLoading={stream.isLoading}
      question={questionOf(stream.interrupt)}
      error={stream.error}
      send={(text) =>
        void stream.submit(
          { messages: [{ type: 'human', content: text }] },
          {
            optimisticValues: ({ messages = [] }) => ({
              messages: [...messages, { type: 'human', content: text }],
            }),
          },
        )
      }
      answer={(reply) => void stream.submit(undefined, { command: { resume: reply } })}
      stop={() => void stream.stop()}
    />
  );
};

createRoot(document.body.appendChild(document.createElement('div'))).render(<App />);
