// One thing on Home that somebody should look at, with links to where it is corrected.
import type { ReactNode } from 'react';

export interface Finding {
  /** Unique on the page. */
  key: string;
  tone: 'red' | 'amber';
  /** What is wrong, for how long, and how many are affected. */
  sentence: string;
  /** The reason that the server or the other service has reported. */
  reason?: string | undefined;
  links: ReactNode;
}

export interface Findings {
  /** Undefined while they are read, and when they could not be read. */
  found: Finding[] | undefined;
  error: Error | null;
  /** A sentence about what was left out, when not everything was read. */
  unexamined?: string | undefined;
}

/** How often they are read again while Home is visible. */
export const findingsMs = 10_000;

export const dayMs = 86_400_000;
