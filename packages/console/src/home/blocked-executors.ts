import { countText } from '../ui/count-text.ts';
import type { Finding } from './finding.tsx';

/** Of the server process that answers; `/ready` counts them. */
export const blockedExecutors = (count: number): Finding[] =>
  count === 0
    ? []
    : [
        {
          key: 'blocked executors',
          tone: 'red',
          sentence: `${countText(count, 'executor')} of this server process blocked by a graph`,
          reason:
            'A node computes without a pause, so its executor executes no other run. Cancel the run, or move the computation out of the event loop.',
          links: null,
        },
      ];
