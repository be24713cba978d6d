// A chat with `useStream` of @langchain/react: the thread protocol v2.
import { useStream } from '@langchain/react';
import { useState, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import {
  apiUrl,
  defaultHeaders,
  questionOf,
  rememberThread,
  threadId as first,
  transport,
} from './address.ts';
import { Chat } from './chat.tsx';
import { authorizedFetch, webSocketFactory } from './ticket-socket.ts';

const connection =
  transport === 'websocket'
    ? { transport, webSocketFactory, callerOptions: { fetch: authorizedFetch } }
    : { transport, defaultHeaders };

const App = (): ReactNode => {
  const [threadId, setThreadId] = useState(first);
  const stream = useStream<{ messages: { type: string; content: string }[] }>({
    ...connection,
    apiUrl,
    assistantId: 'agent',
    threadId,
    onThreadId: (id) => {
      setThreadId(id);
      rememberThread(id);
    },
  });
  const { interrupt } = stream;
  return (
    <Chat
      messages={stream.messages.map(({ type, text }) => ({ type, text }))}
      isLoading={stream.isLoading}
      question={questionOf(interrupt)}
      error={stream.error}
      send={(text) => void stream.submit({ messages: [{ type: 'human', content: text }] })}
      // Without the id, the hook knows no interrupt until its feed has sent it, although it shows the one of the state.
      answer={(reply) => void stream.respond(reply, { interruptId: interrupt!.id! })}
      stop={() => void stream.stop()}
    />
  );
};

createRoot(document.body.appendChild(document.createElement('div'))).render(<App />);
