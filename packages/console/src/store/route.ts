import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { getParentRoute } from '../app/root-route.ts';
import { searchOf, textOf } from '../app/search-text.ts';

const store = createRoute({
  getParentRoute,
  path: '/store',
  staticData: { menu: { label: 'Store', icon: 'store', key: 's' } },
  validateSearch: searchOf({ prefix: textOf, ns: textOf, key: textOf, page: textOf }),
  component: lazyRouteComponent(() => import('./store-page.tsx'), 'StorePage'),
});

export const storeRoutes = [store] as const;
