import { expect, it } from 'vitest';
import { rerunOptions } from './rerun.ts';

it('a run is repeated with its input, without its checkpoint and its webhook', () => {
  const kwargs = {
    input: { messages: [] },
    context: null,
    checkpoint_id: 'c',
    webhook: 'https://example.com',
    config: { configurable: { a: 1 } },
  };
  expect(rerunOptions({ kwargs })).toEqual({
    input: { messages: [] },
    config: { configurable: { a: 1 } },
    stream_resumable: true,
  });
});
