// The path of a request, also without the path before all routes (`http.mount_prefix`).

/** The paths of probes and scrapers, which come every few seconds. */
export const probePaths: ReadonlySet<string> = new Set(['/ok', '/ready', '/metrics']);

/** Matches no route: the path is not below the prefix. */
export const noPath = '//';

/**
 * `prefix`: empty, or a path such as `/agents`. The returned function gets a path as it was sent (Hono would decode it before matching, and an
 * encoded slash would then split a segment); an empty one stays empty.
 */
export const withoutPrefix =
  (prefix: string) =>
  (path: string): string => {
    if (prefix === '' || path === '') return path;
    if (path === prefix || path === `${prefix}/`) return '/';
    if (path.startsWith(`${prefix}/`)) return path.slice(prefix.length);
    // Probes and scrapers may also use their paths without the prefix.
    return probePaths.has(path) ? path : noPath;
  };

/** Longer paths match no route. */
export const urlCharsMax = 8192;

/** The path as it was sent; empty for a URL over the limit, which matches no route. */
export const rawPath = ({ url }: Request): string => {
  const start = url.indexOf('/', url.indexOf('//') + 2);
  const query = url.indexOf('?', start);
  if (url.length - start > urlCharsMax) return '';
  return url.slice(start, query === -1 ? undefined : query);
};
