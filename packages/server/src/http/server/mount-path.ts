// The path of a request without the prefix of all routes (`http.mount_prefix`).

/** Probes and scrapers may also use these paths without the prefix. */
const always = new Set(['/ok', '/ready', '/metrics']);
/** Matches no route. */
const outside = '//';

/**
 * `prefix`: empty, or a path such as `/agents`. The returned function gets a path as it was sent: Hono would decode it before matching, and
 * an encoded slash would then split a segment.
 */
export const withoutPrefix =
  (prefix: string) =>
  (path: string): string => {
    if (prefix === '') return path;
    if (path === prefix || path === `${prefix}/`) return '/';
    if (path.startsWith(`${prefix}/`)) return path.slice(prefix.length);
    return always.has(path) ? path : outside;
  };
