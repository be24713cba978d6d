// Finds the built-in route of a path, and the routes of the project's app that hide built-in ones.
import type { RouteShape } from '@svc/contract';
import { TrieRouter } from 'hono/router/trie-router';
import type { Surface } from '../routing/mount.ts';
import { probePaths } from '../server/request-path.ts';
import { isRoute, routeFor, type UserApp } from './user-app.ts';

export interface BuiltInRoute {
  readonly route: RouteShape;
  readonly surface: Surface;
}

export class BuiltInRoutes {
  readonly #router = new TrieRouter<BuiltInRoute>();
  readonly #table: { method: string; path: string }[] = [];

  constructor(surfaces: readonly Surface[]) {
    for (const surface of surfaces)
      for (const route of Object.values(surface.routes))
        for (const path of [route.path, ...(route.aliases ?? [])]) {
          const method = route.method.toUpperCase();
          this.#router.add(method, path, { route, surface });
          this.#table.push({ method, path });
        }
  }

  /** The routes that a path matches, such as `/threads/search` and `/threads/:thread_id`, have the same rules of access. */
  find(method: string, path: string): BuiltInRoute | undefined {
    const [matched] = this.#router.match(method === 'HEAD' ? 'GET' : method, path);
    return matched[0]?.[0];
  }

  /** For the operator: each route of the app that hides a built-in one, or is hidden by one. */
  conflicts(app: UserApp): string[] {
    const hidden = this.#table.flatMap(({ method, path }) => {
      const route = routeFor(app, method, path.replaceAll(/:([^/]+)/g, 'any-$1'));
      if (route === undefined) return [];
      return [
        probePaths.has(path)
          ? `The route ${route.method} ${route.path} of http.app is never called: ${path} is always that of the server`
          : `The route ${route.method} ${route.path} of http.app replaces the built-in route ${method} ${path}`,
      ];
    });
    const literal = app.routes.filter((route) => isRoute(route) && !/[:*]/.test(route.path));
    const shared = literal.flatMap(({ method, path }) => {
      const builtIn = this.find(method, path)?.route;
      return builtIn === undefined || builtIn.path === path
        ? []
        : [
            `The route ${method} ${path} of http.app replaces the built-in route ${method} ${builtIn.path} at this path`,
          ];
    });
    return [...new Set([...hidden, ...shared])];
  }
}
