import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { runStatuses } from '../api/statuses.ts';
import { MissingRun } from '../app/missing.tsx';
import { getParentRoute, needId } from '../app/root-route.ts';
import {
  idOf,
  manyOf,
  oneOf,
  rejectedOf,
  searchOf,
  textOf,
  timeOf,
  timeParameters,
} from '../app/search-text.ts';
import type { RunFilter } from './run-filter.ts';

const filterOf = searchOf({
  status: manyOf(runStatuses),
  graph: textOf,
  thread: textOf,
  meta: textOf,
  since: timeParameters.since,
  from: timeOf,
  to: timeOf,
  ended_from: timeOf,
  ended_to: timeOf,
  sort: oneOf('asc', 'desc'),
});

const runs = createRoute({
  getParentRoute,
  path: '/runs',
  staticData: { menu: { label: 'Runs', icon: 'runs', key: 'r' } },
  validateSearch: (raw: Record<string, unknown>): RunFilter => {
    const filter = filterOf(raw);
    // Jobs use this filter, so the page rejects an address with other parameters.
    return { ...filter, rejected: rejectedOf(raw, filter) };
  },
  component: lazyRouteComponent(() => import('./runs-page.tsx'), 'RunsPage'),
});

const run = createRoute({
  getParentRoute,
  path: '/runs/$runId',
  loader: ({ params }) => needId(params.runId),
  notFoundComponent: MissingRun,
  validateSearch: searchOf({
    thread: idOf,
    tab: oneOf('overview', 'timeline', 'input', 'events', 'webhooks', 'raw'),
  }),
  component: lazyRouteComponent(() => import('./run-page.tsx'), 'RunPage'),
});

export const runRoutes = [runs, run] as const;
