import { onlineManager, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { ApiError, createClient, type RunChanges } from '@svc/sdk';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ClientProvider } from './api/client.tsx';
import { reach } from './session/reach.ts';
import { apiUrl } from './app/addresses.ts';
import { reloadOnceFor } from './app/stale-chunks.ts';
import { LiveRuns } from './live/live-runs.tsx';
import { createConsoleRouter } from './routes.ts';
import { applyColors } from './ui/preferences.ts';
import './ui/tokens.css';
import './ui/base.css';

reloadOnceFor(window);
applyColors();

// Queries pause while the server is away, and are read again when it is back. A server on this machine needs no network.
onlineManager.setEventListener((setOnline) => reach.subscribe(() => setOnline(!reach.isAway())));
const client = createClient({ apiUrl, fetch: reach.fetch });
const router = createConsoleRouter();
const changes = (signal: AbortSignal): AsyncIterable<RunChanges> => client.runs.changes({ signal });
const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 1_000,
      // The SDK repeats requests itself, except where the server has answered.
      retry: (count, error) => !(error instanceof ApiError) && count < 2,
      refetchOnWindowFocus: true,
    },
    // A change that the user has requested fails at once: it must not happen later.
    mutations: { networkMode: 'always' },
  },
});

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no element with the id "root"');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <ClientProvider client={client}>
        <LiveRuns changes={changes}>
          <RouterProvider router={router} />
        </LiveRuns>
      </ClientProvider>
    </QueryClientProvider>
  </StrictMode>,
);
