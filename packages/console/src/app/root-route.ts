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

/** Shows the page for missing objects when a path has another text in place of an id. A request with this text would fail, or reach another route. */
export const needId = (id: string): void => {
  // The router renders the page for this value.
  // oxlint-disable-next-line typescript/only-throw-error
  if (!isId(id)) throw notFound();
};
