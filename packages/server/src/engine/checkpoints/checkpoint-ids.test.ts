import { uuid6 } from '@langchain/langgraph-checkpoint';
import { expect, it } from 'vitest';
import { checkpointTimeMs } from './checkpoint-ids.ts';

it('is the time at which the engine created the id', () => {
  const before = Date.now();
  const ms = checkpointTimeMs(uuid6(-1));
  expect(ms).toBeGreaterThanOrEqual(before);
  expect(ms).toBeLessThanOrEqual(Date.now() + 1);
});

it('is unknown for other ids', () => {
  expect(checkpointTimeMs('6d6e7f2a-7c5b-4b0e-9a54-1d3f0c2b7a90')).toBeUndefined();
  expect(checkpointTimeMs('')).toBeUndefined();
});
