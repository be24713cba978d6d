import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { ApiError, createClient } from '@svc/sdk';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ClientProvider } from './api/client.tsx';
import { apiUrl } from './app/addresses.ts';
import { reloadOnceFor } from './app/stale-chunks.ts';
import { LiveFeed } from './live/live-feed.tsx';
import { SharedFeed } from './live/shared-feed.ts';
import { createConsoleRouter } from './routes.tsx';
import { BulkJobProvider } from './runs/bulk-job-provider.tsx';
import { session } from './session/session.ts';
import './ui/tokens.css';
import './ui/base.css';

reloadOnceFor(window);

const client = createClient({ apiUrl, fetch: session.fetch });
const router = createConsoleRouter();
const feed = new SharedFeed({
  name: `svc-console-runs ${apiUrl}`,
  read: (signal) => client.runs.feed({}, { signal }),
});
const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 1_000,
      // The SDK repeats requests itself, except where the server has answered.
      retry: (count, error) => !(error instanceof ApiError) && count < 2,
      refetchOnWindowFocus: true,
    },
  },
});

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no element with the id "root"');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <ClientProvider client={client}>
        <LiveFeed feed={feed}>
          <BulkJobProvider>
            <RouterProvider router={router} />
          </BulkJobProvider>
        </LiveFeed>
      </ClientProvider>
    </QueryClientProvider>
  </StrictMode>,
);
