// Values that no database and no string of V8 could hold are refused before a flush is gathered.
import { randomUUID } from 'node:crypto';
import { emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint';
import { describe, expect, it } from 'vitest';
import { testDatabase } from '../database.ts';
import { ThreadSavers } from './thread-savers.ts';
import { fixture } from '../fixture.ts';

const db = fixture(() => testDatabase());

const mb = 1024 * 1024;

const put = (channel_values: Record<string, string>) => {
  const config = { configurable: { thread_id: randomUUID(), checkpoint_ns: '' } };
  const channel_versions = Object.fromEntries(Object.keys(channel_values).map((channel) => [channel, 1]));
  const checkpoint = { ...emptyCheckpoint(), id: uuid6(1), channel_values, channel_versions };
  return new ThreadSavers(db).put(config, checkpoint, { source: 'loop', step: 0, parents: {} });
};

describe('a checkpoint', () => {
  it('with a value of 300 MB is refused with the name of the value', async () => {
    await expect(put({ out: 'x'.repeat(300 * mb) })).rejects.toThrow(
      'values.out is too large to be stored: it adds 300 MB, and at most 256 MB are possible',
    );
  });

  it('with values of 400 MB together is refused with their sum', async () => {
    await expect(put({ a: 'a'.repeat(200 * mb), b: 'b'.repeat(200 * mb) })).rejects.toThrow(
      'values.b cannot be stored: the values of this step have 400 MB, and at most 384 MB are possible',
    );
  });
});
