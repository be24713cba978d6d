import type { ListedDifference } from './difference.ts';

/** Differences from the stock server for Python graphs. Others are those of JavaScript graphs. */
export const python: readonly ListedDifference[] = [];
