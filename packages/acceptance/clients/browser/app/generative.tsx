// A page that renders the components which a graph has sent, with `LoadExternalComponent` of the stock SDK.
import { useStream } from '@langchain/langgraph-sdk/react';
import {
  isRemoveUIMessage,
  isUIMessage,
  LoadExternalComponent,
  uiMessageReducer,
  type UIMessage,
} from '@langchain/langgraph-sdk/react-ui';
import { useState, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { apiUrl, defaultHeaders, rememberThread, threadId as first } from './address.ts';

const App = (): ReactNode => {
  const [threadId, setThreadId] = useState(first);
  const [gate, setGate] = useState('');
  const stream = useStream<{ gate?: string; ui?: UIMessage[] }>({
    apiUrl,
    defaultHeaders,
    assistantId: 'forecast',
    threadId,
    onThreadId: (id) => {
      setThreadId(id);
      rememberThread(id);
    },
    fetchStateHistory: true,
    onCustomEvent: (event, { mutate }) => {
      if (isUIMessage(event) || isRemoveUIMessage(event))
        mutate(({ ui = [] }) => ({ ui: uiMessageReducer(ui, event) }));
    },
  });
  return (
    <main data-loading={stream.isLoading}>
      {(stream.values.ui ?? []).map((message) => (
        <LoadExternalComponent key={message.id} stream={stream} message={message} fallback="loading" />
      ))}
      <input aria-label="Gate" value={gate} onChange={({ target }) => setGate(target.value)} />
      <button onClick={() => void stream.submit({ gate })}>Send</button>
    </main>
  );
};

createRoot(document.body.appendChild(document.createElement('div'))).render(<App />);
