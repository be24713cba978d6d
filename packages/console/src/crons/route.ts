import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { MissingCron } from '../app/missing.tsx';
import { getParentRoute, needId } from '../app/root-route.ts';
import { idOf, oneOf, searchOf, textOf } from '../app/search-text.ts';

const crons = createRoute({
  getParentRoute,
  path: '/crons',
  staticData: { menu: { label: 'Crons', icon: 'crons', key: 'c' } },
  validateSearch: searchOf({
    assistant: idOf,
    thread: idOf,
    state: oneOf('enabled', 'paused'),
    page: textOf,
  }),
  component: lazyRouteComponent(() => import('./crons-page.tsx'), 'CronsPage'),
});

const cron = createRoute({
  getParentRoute,
  path: '/crons/$cronId',
  loader: ({ params }) => needId(params.cronId),
  notFoundComponent: MissingCron,
  component: lazyRouteComponent(() => import('./cron-page.tsx'), 'CronPage'),
});

export const cronRoutes = [crons, cron] as const;
