/** The paths of probes and scrapers, which come every few seconds. */
export const probePaths: ReadonlySet<string> = new Set(['/ok', '/ready', '/metrics']);
