import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { MissingDestination } from '../app/missing.tsx';
import { getParentRoute, needId } from '../app/root-route.ts';

const destinations = createRoute({
  getParentRoute,
  path: '/destinations',
  staticData: { parentPath: '/exports' },
  component: lazyRouteComponent(() => import('./destinations-page.tsx'), 'DestinationsPage'),
});

const newDestination = createRoute({
  getParentRoute,
  path: '/destinations/new',
  component: lazyRouteComponent(() => import('./new-destination-page.tsx'), 'NewDestinationPage'),
});

const destination = createRoute({
  getParentRoute,
  path: '/destinations/$destinationId',
  loader: ({ params }) => needId(params.destinationId),
  notFoundComponent: MissingDestination,
  component: lazyRouteComponent(() => import('./destination-page.tsx'), 'DestinationPage'),
});

export const destinationRoutes = [destinations, newDestination, destination] as const;
