// The methods that paths support. A path such as `/threads/search` also looks like `/threads/:thread_id`, but its last segment is no
// thread id: it supports only the methods of routes whose parameters accept its segments.
import type { RouteShape } from '@svc/contract';

type Route = Pick<RouteShape, 'method' | 'path' | 'aliases' | 'params' | 'kind' | 'changes'>;

interface Entry {
  route: Route;
  path: string;
  pattern: RegExp;
}

/** HEAD is answered as GET without the body, which must not start a stream, and must not change anything. */
export const supportsHead = (route: Route): boolean => !isStream(route) && route.changes !== 'always';

export const isStream = ({ kind }: Pick<RouteShape, 'kind'>): boolean =>
  kind === 'sse' || kind === 'deferred' || kind === 'rpc' || kind === 'socket';

/** Parameters that are ids or texts accept it. */
const anyId = '00000000-0000-0000-0000-000000000000';

export class PathMethods {
  readonly #entries: Entry[] = [];

  constructor(routes: readonly Route[]) {
    for (const route of routes)
      for (const path of [route.path, ...(route.aliases ?? [])])
        this.#entries.push({ route, path, pattern: patternOf(path) });
  }

  /** The value of `Allow`; empty when no route has the path. */
  allow(path: string): string {
    const matching = this.#entries.filter(({ pattern }) => pattern.test(path));
    if (matching.length === 0) return '';
    const fitting = matching.filter((entry) => fits(entry, path));
    const methods = new Set<string>();
    for (const { route } of fitting.length > 0 ? fitting : matching) {
      methods.add(route.method.toUpperCase());
      if (route.method === 'get' && supportsHead(route)) methods.add('HEAD');
    }
    return [...methods.add('OPTIONS')].join(', ');
  }

  /** Whether other routes match the path of a route too, but none of them accepts it. */
  isReserved(path: string): boolean {
    const sample = path.replaceAll(/:[^/]+/g, anyId);
    const others = this.#entries.filter((entry) => entry.path !== path && entry.pattern.test(sample));
    return others.length > 0 && !others.some((entry) => fits(entry, sample));
  }
}

const patternOf = (path: string): RegExp => {
  const source = path.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${source.replaceAll(/:([^/]+)/g, '(?<$1>[^/]+)')}$`);
};

const fits = ({ route, pattern }: Entry, path: string): boolean => {
  const segments = { ...pattern.exec(path)?.groups };
  return route.params === undefined || route.params.safeParse(segments).success;
};
