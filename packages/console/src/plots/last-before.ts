/** The last microsecond before a time: the server includes the end of a time in which traces started. */
export const lastBefore = (ms: number): string => new Date(ms - 1).toISOString().replace('Z', '999Z');
