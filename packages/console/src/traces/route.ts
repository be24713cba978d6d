import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { MissingTrace } from '../app/missing.tsx';
import { getParentRoute, needId } from '../app/root-route.ts';
import { idOf, oneOf, searchOf, textOf, timeParameters } from '../app/search-text.ts';

const traces = createRoute({
  getParentRoute,
  path: '/traces',
  staticData: { menu: { label: 'Traces', icon: 'traces', key: 'e' } },
  validateSearch: searchOf({
    project: idOf,
    filter: textOf,
    runs: oneOf('all'),
    ...timeParameters,
    view: oneOf('threads', 'charts'),
    thread: textOf,
  }),
  component: lazyRouteComponent(() => import('./traces-page.tsx'), 'TracesPage'),
});

const comparison = createRoute({
  getParentRoute,
  path: '/traces/compare',
  validateSearch: searchOf({ left: idOf, right: idOf, sel: idOf, payload: oneOf('json') }),
  component: lazyRouteComponent(() => import('./compare-page.tsx'), 'ComparePage'),
});

const trace = createRoute({
  getParentRoute,
  path: '/traces/$traceId',
  loader: ({ params }) => needId(params.traceId),
  notFoundComponent: MissingTrace,
  validateSearch: searchOf({ sel: idOf, q: textOf, payload: oneOf('json') }),
  component: lazyRouteComponent(() => import('./trace-page.tsx'), 'TracePage'),
});

export const traceRoutes = [traces, comparison, trace] as const;
