// The paths that accept WebSockets.
import type { Routes } from '@svc/contract';
import { withoutPrefix } from '../server/request-path.ts';

/** `prefix`: the path before all routes, or empty. */
export const socketUrls = (routes: Routes, prefix: string): ((url: string) => boolean) => {
  const pathInPrefix = withoutPrefix(prefix);
  const patterns = Object.values(routes)
    .filter(({ kind }) => kind === 'socket')
    .map(({ path }) => new RegExp(`^${path.replaceAll(/:[^/]+/g, '[^/]+')}$`));
  return (url) => {
    const path = pathInPrefix(url.split('?', 1)[0] ?? '');
    return patterns.some((pattern) => pattern.test(path));
  };
};
