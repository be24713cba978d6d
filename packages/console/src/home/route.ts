import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { getParentRoute } from '../app/root-route.ts';
import { oneOf, searchOf } from '../app/search-text.ts';
import { figureSpans } from './figure-spans.ts';

const home = createRoute({
  getParentRoute,
  path: '/',
  staticData: { menu: { label: 'Home', icon: 'home', key: 'h' } },
  validateSearch: searchOf({ since: oneOf(...figureSpans) }),
  component: lazyRouteComponent(() => import('./home-page.tsx'), 'HomePage'),
});

export const homeRoutes = [home] as const;
