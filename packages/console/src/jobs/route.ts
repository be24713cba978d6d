import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { getParentRoute } from '../app/root-route.ts';
import { idOf, searchOf } from '../app/search-text.ts';

const jobs = createRoute({
  getParentRoute,
  path: '/jobs',
  staticData: { menu: { label: 'Jobs', icon: 'jobs', key: 'b' } },
  validateSearch: searchOf({ sel: idOf }),
  component: lazyRouteComponent(() => import('./jobs-page.tsx'), 'JobsPage'),
});

export const jobRoutes = [jobs] as const;
