// The pages by their paths. What a page shows is in its query string, and each page is a chunk of its own.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  notFound,
  type RouterHistory,
} from '@tanstack/react-router';
import { consolePath } from './app/addresses.ts';
import {
  MissingCron,
  MissingDestination,
  MissingExport,
  MissingRun,
  MissingThread,
  MissingTrace,
} from './app/missing.tsx';
import {
  formatSearch,
  idOf,
  isId,
  manyOf,
  oneOf,
  parseSearch,
  rejectedOf,
  timeRangeOf,
  textOf,
  timeOf,
} from './app/search-text.ts';
import { NotFound, Shell } from './app/shell.tsx';
import { PageError } from './app/page-error.tsx';
import { deliveryStatuses, runStatuses, threadStatuses } from './api/statuses.ts';
import { figureSpans } from './home/figure-spans.ts';
import { exportStatuses } from './platform/export-status.ts';

/** Every parameter may be absent. */
const optional = <T extends object>(search: T): { [Name in keyof T]?: T[Name] } => search;

/** Bulk actions use this filter: what it does not take over is an error of the page. */
const runFilterOf = (raw: Record<string, unknown>) => {
  const filter = {
    status: manyOf(raw, 'status', runStatuses),
    graph: textOf(raw, 'graph'),
    thread: textOf(raw, 'thread'),
    meta: textOf(raw, 'meta'),
    since: oneOf(raw, 'since', ['15m', '1h', '1d', '7d']),
    from: timeOf(raw, 'from'),
    to: timeOf(raw, 'to'),
    ended_from: timeOf(raw, 'ended_from'),
    ended_to: timeOf(raw, 'ended_to'),
    sort: oneOf(raw, 'sort', ['asc', 'desc']),
  };
  return { ...filter, rejected: rejectedOf(raw, filter) };
};

/** The server would refuse the request, or answer one with another path: `/exports/destinations`. */
const needId = (id: string): void => {
  // The router renders the page for this value.
  // oxlint-disable-next-line typescript/only-throw-error
  if (!isId(id)) throw notFound();
};

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: PageError });

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  validateSearch: (raw: Record<string, unknown>) => optional({ since: oneOf(raw, 'since', figureSpans) }),
  component: lazyRouteComponent(() => import('./home/home-page.tsx'), 'HomePage'),
});

const playground = createRoute({
  getParentRoute: () => root,
  path: '/playground',
  validateSearch: (raw: Record<string, unknown>) =>
    optional({
      assistant: textOf(raw, 'assistant'),
      thread: idOf(raw, 'thread'),
      run: idOf(raw, 'run'),
      compare: textOf(raw, 'compare'),
      compareThread: idOf(raw, 'compareThread'),
      compareRun: idOf(raw, 'compareRun'),
      column: oneOf(raw, 'column', ['right']),
      panel: oneOf(raw, 'panel', ['config', 'state', 'schema']),
      part: oneOf(raw, 'part', ['graph', 'settings']),
    }),
  component: lazyRouteComponent(() => import('./playground/playground-page.tsx'), 'PlaygroundPage'),
});

const inbox = createRoute({
  getParentRoute: () => root,
  path: '/inbox',
  validateSearch: (raw: Record<string, unknown>) =>
    optional({
      show: oneOf(raw, 'show', ['stopped']),
      graph: textOf(raw, 'graph'),
      sel: idOf(raw, 'sel'),
    }),
  component: lazyRouteComponent(() => import('./inbox/inbox-page.tsx'), 'InboxPage'),
});

const threads = createRoute({
  getParentRoute: () => root,
  path: '/threads',
  validateSearch: (raw: Record<string, unknown>) =>
    optional({
      status: oneOf(raw, 'status', threadStatuses),
      graph: textOf(raw, 'graph'),
      owner: textOf(raw, 'owner'),
      meta: textOf(raw, 'meta'),
      since: oneOf(raw, 'since', ['15m', '1h', '1d', '7d']),
      ...timeRangeOf(raw),
      sort: oneOf(raw, 'sort', ['created_at', 'updated_at', 'state_updated_at']),
      page: textOf(raw, 'page'),
    }),
  component: lazyRouteComponent(() => import('./threads/threads-page.tsx'), 'ThreadsPage'),
});

const thread = createRoute({
  getParentRoute: () => root,
  path: '/threads/$threadId',
  loader: ({ params: { threadId } }) => needId(threadId),
  notFoundComponent: MissingThread,
  validateSearch: (raw: Record<string, unknown>) =>
    optional({
      tab: oneOf(raw, 'tab', ['chat', 'checkpoints', 'runs', 'details']),
      checkpoint: idOf(raw, 'checkpoint'),
      view: oneOf(raw, 'view', ['changes', 'values']),
    }),
  component: lazyRouteComponent(() => import('./threads/thread-page.tsx'), 'ThreadPage'),
});

const runs = createRoute({
  getParentRoute: () => root,
  path: '/runs',
  validateSearch: (raw: Record<string, unknown>) => optional(runFilterOf(raw)),
  component: lazyRouteComponent(() => import('./runs/runs-page.tsx'), 'RunsPage'),
});

const run = createRoute({
  getParentRoute: () => root,
  path: '/runs/$runId',
  loader: ({ params: { runId } }) => needId(runId),
  notFoundComponent: MissingRun,
  validateSearch: (raw: Record<string, unknown>) =>
    optional({
      thread: idOf(raw, 'thread'),
      tab: oneOf(raw, 'tab', ['overview', 'timeline', 'input', 'events', 'webhooks', 'raw']),
    }),
  component: lazyRouteComponent(() => import('./runs/run-page.tsx'), 'RunPage'),
});

const traces = createRoute({
  getParentRoute: () => root,
  path: '/traces',
  validateSearch: (raw: Record<string, unknown>) =>
    optional({
      project: idOf(raw, 'project'),
      filter: textOf(raw, 'filter'),
      runs: oneOf(raw, 'runs', ['all']),
      since: oneOf(raw, 'since', ['15m', '1h', '1d', '7d']),
      ...timeRangeOf(raw),
      view: oneOf(raw, 'view', ['threads', 'charts']),
      thread: textOf(raw, 'thread'),
    }),
  component: lazyRouteComponent(() => import('./traces/traces-page.tsx'), 'TracesPage'),
});

const traceComparison = createRoute({
  getParentRoute: () => root,
  path: '/traces/compare',
  validateSearch: (raw: Record<string, unknown>) =>
    optional({
      left: idOf(raw, 'left'),
      right: idOf(raw, 'right'),
      sel: idOf(raw, 'sel'),
      payload: oneOf(raw, 'payload', ['json']),
    }),
  component: lazyRouteComponent(() => import('./traces/compare-page.tsx'), 'ComparePage'),
});

const trace = createRoute({
  getParentRoute: () => root,
  path: '/traces/$traceId',
  loader: ({ params: { traceId } }) => needId(traceId),
  notFoundComponent: MissingTrace,
  validateSearch: (raw: Record<string, unknown>) =>
    optional({
      sel: idOf(raw, 'sel'),
      q: textOf(raw, 'q'),
      payload: oneOf(raw, 'payload', ['json']),
    }),
  component: lazyRouteComponent(() => import('./traces/trace-page.tsx'), 'TracePage'),
});

const exports = createRoute({
  getParentRoute: () => root,
  path: '/exports',
  validateSearch: (raw: Record<string, unknown>) =>
    optional({
      status: manyOf(raw, 'status', exportStatuses),
      project: idOf(raw, 'project'),
      destination: idOf(raw, 'destination'),
      schedule: idOf(raw, 'schedule'),
      page: textOf(raw, 'page'),
    }),
  component: lazyRouteComponent(() => import('./exports/exports-page.tsx'), 'ExportsPage'),
});

const newExport = createRoute({
  getParentRoute: () => root,
  path: '/exports/new',
  validateSearch: (raw: Record<string, unknown>) =>
    optional({
      from: idOf(raw, 'from'),
      project: idOf(raw, 'project'),
      destination: idOf(raw, 'destination'),
    }),
  component: lazyRouteComponent(() => import('./exports/new-export-page.tsx'), 'NewExportPage'),
});

const bulkExport = createRoute({
  getParentRoute: () => root,
  path: '/exports/$exportId',
  loader: ({ params: { exportId } }) => needId(exportId),
  notFoundComponent: MissingExport,
  validateSearch: (raw: Record<string, unknown>) =>
    optional({
      tab: oneOf(raw, 'tab', ['days', 'events', 'files', 'manifest', 'request']),
      status: manyOf(raw, 'status', exportStatuses),
      run: idOf(raw, 'run'),
      page: textOf(raw, 'page'),
    }),
  component: lazyRouteComponent(() => import('./exports/export-page.tsx'), 'ExportPage'),
});

const destinations = createRoute({
  getParentRoute: () => root,
  path: '/destinations',
  component: lazyRouteComponent(() => import('./destinations/destinations-page.tsx'), 'DestinationsPage'),
});

const newDestination = createRoute({
  getParentRoute: () => root,
  path: '/destinations/new',
  component: lazyRouteComponent(
    () => import('./destinations/new-destination-page.tsx'),
    'NewDestinationPage',
  ),
});

const destination = createRoute({
  getParentRoute: () => root,
  path: '/destinations/$destinationId',
  loader: ({ params: { destinationId } }) => needId(destinationId),
  notFoundComponent: MissingDestination,
  component: lazyRouteComponent(() => import('./destinations/destination-page.tsx'), 'DestinationPage'),
});

const keys = createRoute({
  getParentRoute: () => root,
  path: '/keys',
  validateSearch: (raw: Record<string, unknown>) =>
    optional({ tab: oneOf(raw, 'tab', ['keys', 'workspaces']) }),
  component: lazyRouteComponent(() => import('./keys/keys-page.tsx'), 'KeysPage'),
});

const settings = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  validateSearch: (raw: Record<string, unknown>) =>
    optional({
      tab: oneOf(raw, 'tab', ['workers']),
      q: textOf(raw, 'q'),
      only: oneOf(raw, 'only', ['changed']),
    }),
  component: lazyRouteComponent(() => import('./settings/settings-page.tsx'), 'SettingsPage'),
});

const store = createRoute({
  getParentRoute: () => root,
  path: '/store',
  validateSearch: (raw: Record<string, unknown>) =>
    optional({
      prefix: textOf(raw, 'prefix'),
      ns: textOf(raw, 'ns'),
      key: textOf(raw, 'key'),
      page: textOf(raw, 'page'),
    }),
  component: lazyRouteComponent(() => import('./store/store-page.tsx'), 'StorePage'),
});

const crons = createRoute({
  getParentRoute: () => root,
  path: '/crons',
  validateSearch: (raw: Record<string, unknown>) =>
    optional({
      assistant: idOf(raw, 'assistant'),
      thread: idOf(raw, 'thread'),
      state: oneOf(raw, 'state', ['enabled', 'paused']),
      page: textOf(raw, 'page'),
    }),
  component: lazyRouteComponent(() => import('./crons/crons-page.tsx'), 'CronsPage'),
});

const cron = createRoute({
  getParentRoute: () => root,
  path: '/crons/$cronId',
  loader: ({ params: { cronId } }) => needId(cronId),
  notFoundComponent: MissingCron,
  component: lazyRouteComponent(() => import('./crons/cron-page.tsx'), 'CronPage'),
});

const webhooks = createRoute({
  getParentRoute: () => root,
  path: '/webhooks',
  validateSearch: (raw: Record<string, unknown>) =>
    optional({ status: manyOf(raw, 'status', deliveryStatuses), sel: idOf(raw, 'sel') }),
  component: lazyRouteComponent(() => import('./webhooks/webhooks-page.tsx'), 'WebhooksPage'),
});

const assistants = createRoute({
  getParentRoute: () => root,
  path: '/assistants',
  validateSearch: (raw: Record<string, unknown>) =>
    optional({ graph: textOf(raw, 'graph'), q: textOf(raw, 'q'), page: textOf(raw, 'page') }),
  component: lazyRouteComponent(() => import('./assistants/assistants-page.tsx'), 'AssistantsPage'),
});

const assistant = createRoute({
  getParentRoute: () => root,
  path: '/assistants/$assistantId',
  validateSearch: (raw: Record<string, unknown>) => optional({ v: textOf(raw, 'v'), w: textOf(raw, 'w') }),
  component: lazyRouteComponent(() => import('./assistants/assistant-page.tsx'), 'AssistantPage'),
});

const routeTree = root.addChildren([
  home,
  playground,
  inbox,
  threads,
  thread,
  runs,
  run,
  traces,
  traceComparison,
  trace,
  exports,
  newExport,
  bulkExport,
  destinations,
  newDestination,
  destination,
  crons,
  cron,
  webhooks,
  store,
  assistants,
  assistant,
  keys,
  settings,
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
