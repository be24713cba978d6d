import type { NodeActivity } from '../messages/fold-run.ts';
import { duration } from '../ui/duration.ts';

const signs: Record<NodeActivity['state'], string> = {
  running: '…',
  interrupted: '‖',
  error: '✗',
  done: '✓',
};

/** What the box of a node says of its last visit. Events that arrive together say nothing of the time between them. */
export const activityText = ({ state, tookMs = 0 }: Pick<NodeActivity, 'state' | 'tookMs'>): string => {
  const time = state === 'running' || state === 'interrupted' || tookMs < 1 ? undefined : duration(tookMs);
  return state === 'done'
    ? (time ?? signs.done)
    : [signs[state], time].filter((text) => text !== undefined).join(' ');
};
