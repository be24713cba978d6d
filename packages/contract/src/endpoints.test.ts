import { expect, it } from 'vitest';
import { endpoints } from './endpoints.ts';
import { consoleRoutes, deploymentRoutes, platformRoutes, type RouteShape } from './index.ts';

it('endpoints has the method and path of every route (npm run generate writes it)', () => {
  const routes: Record<string, RouteShape> = { ...deploymentRoutes, ...platformRoutes, ...consoleRoutes };
  const expected = Object.entries(routes).map(([name, { method, path }]) => [name, { method, path }]);
  expect(endpoints).toEqual(Object.fromEntries(expected));
});

it('a route of one API has no name that a route of the other API has', () => {
  expect(Object.keys(deploymentRoutes).filter((name) => name in platformRoutes)).toEqual([]);
});
