// What the routes of all pages have in common. A page has its route in `route.ts` of its folder; `routes.ts` lists them.
import { createRootRoute, notFound } from '@tanstack/react-router';
import { isId } from './search-text.ts';
import { NotFound, PageError, Shell } from './shell.tsx';

export const rootRoute = createRootRoute({
  component: Shell,
  notFoundComponent: NotFound,
  errorComponent: PageError,
});

/** The parent of the routes of all pages. */
export const getParentRoute = (): typeof rootRoute => rootRoute;

/** For the loader of a route with an id in its path: the server would refuse the request, or answer one with another path. */
export const needId = (id: string): void => {
  // The router renders the page for this value.
  // oxlint-disable-next-line typescript/only-throw-error
  if (!isId(id)) throw notFound();
};
