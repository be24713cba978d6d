import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { getParentRoute } from '../app/root-route.ts';
import { oneOf, searchOf } from '../app/search-text.ts';

const keys = createRoute({
  getParentRoute,
  path: '/keys',
  staticData: { menu: { label: 'Keys', icon: 'keys', key: 'w' } },
  validateSearch: searchOf({ tab: oneOf('keys', 'workspaces') }),
  component: lazyRouteComponent(() => import('./keys-page.tsx'), 'KeysPage'),
});

export const keyRoutes = [keys] as const;
