// The routes of all pages, in the order of the menu. What a page shows is in its query string, and each page is a chunk of its own.
import { createRouter, type RouterHistory } from '@tanstack/react-router';
import { consolePath } from './app/addresses.ts';
import { rootRoute } from './app/root-route.ts';
import { formatSearch, parseSearch } from './app/search-text.ts';
import { assistantRoutes } from './assistants/route.ts';
import { cronRoutes } from './crons/route.ts';
import { destinationRoutes } from './destinations/route.ts';
import { exportRoutes } from './exports/route.ts';
import { homeRoutes } from './home/route.ts';
import { inboxRoutes } from './inbox/route.ts';
import { jobRoutes } from './jobs/route.ts';
import { keyRoutes } from './keys/route.ts';
import { playgroundRoutes } from './playground/route.ts';
import { runRoutes } from './runs/route.ts';
import { settingsRoutes } from './settings/route.ts';
import { storeRoutes } from './store/route.ts';
import { threadRoutes } from './threads/route.ts';
import { traceRoutes } from './traces/route.ts';
import { webhookRoutes } from './webhooks/route.ts';

const routeTree = rootRoute.addChildren([
  ...homeRoutes,
  ...playgroundRoutes,
  ...inboxRoutes,
  ...threadRoutes,
  ...runRoutes,
  ...traceRoutes,
  ...exportRoutes,
  ...destinationRoutes,
  ...assistantRoutes,
  ...cronRoutes,
  ...webhookRoutes,
  ...jobRoutes,
  ...storeRoutes,
  ...keyRoutes,
  ...settingsRoutes,
]);

export const createConsoleRouter = (history?: RouterHistory) =>
  createRouter({
    routeTree,
    basepath: consolePath,
    parseSearch: (text) => parseSearch(text),
    stringifySearch: (search) => formatSearch(search),
    defaultPreload: 'intent',
    ...(history === undefined ? {} : { history }),
  });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
