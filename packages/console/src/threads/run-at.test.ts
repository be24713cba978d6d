import { expect, it } from 'vitest';
import { runOptionsAt } from './run-at.ts';

it('a run at a checkpoint has the config and the context of the original, and no other of its options', () => {
  const kwargs = {
    input: { topic: 'tea' },
    config: { configurable: { a: 1 } },
    context: { model: 'm' },
    command: { resume: true },
    interrupt_before: '*',
  };
  const { stream_mode: modes, ...options } = runOptionsAt({ checkpointId: 'c', input: null }, { kwargs });
  expect(options).toEqual({
    config: { configurable: { a: 1 } },
    context: { model: 'm' },
    input: null,
    checkpoint_id: 'c',
    multitask_strategy: 'reject',
    stream_resumable: true,
  });
  expect(modes).toContain('updates');
});

it('a checkpoint whose run is gone has no config to repeat', () => {
  expect(runOptionsAt({ checkpointId: 'c', input: { topic: 'tea' } }, undefined)).not.toHaveProperty(
    'config',
  );
});
