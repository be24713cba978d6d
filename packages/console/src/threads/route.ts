import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { threadStatuses } from '../api/statuses.ts';
import { MissingThread } from '../app/missing.tsx';
import { getParentRoute, needId } from '../app/root-route.ts';
import { idOf, oneOf, searchOf, textOf, timeParameters } from '../app/search-text.ts';

const threads = createRoute({
  getParentRoute,
  path: '/threads',
  staticData: { menu: { label: 'Threads', icon: 'threads', key: 't' } },
  validateSearch: searchOf({
    status: oneOf(...threadStatuses),
    graph: textOf,
    owner: textOf,
    meta: textOf,
    ...timeParameters,
    sort: oneOf('created_at', 'updated_at', 'state_updated_at'),
    page: textOf,
  }),
  component: lazyRouteComponent(() => import('./threads-page.tsx'), 'ThreadsPage'),
});

const thread = createRoute({
  getParentRoute,
  path: '/threads/$threadId',
  loader: ({ params }) => needId(params.threadId),
  notFoundComponent: MissingThread,
  validateSearch: searchOf({
    tab: oneOf('chat', 'checkpoints', 'runs', 'details'),
    checkpoint: idOf,
    view: oneOf('changes', 'values'),
  }),
  component: lazyRouteComponent(() => import('./thread-page.tsx'), 'ThreadPage'),
});

export const threadRoutes = [threads, thread] as const;
