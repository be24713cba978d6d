import fc from 'fast-check';
import { expect, it } from 'vitest';
import { toCursor } from '../../../api/cursor.ts';
import { hashOf, readEventId, toEventId } from './feed-position.ts';

const version = fc.record({
  run_id: fc.uuid(),
  updated_at: fc.constantFrom('2026-01-31T12:00:00.000001Z', '2026-01-31T12:00:00.000002Z'),
  attempt: fc.nat(5),
});

it('a position is read back, with the newest hundred changes that were sent', () => {
  fc.assert(
    fc.property(fc.array(version, { maxLength: 150 }), (versions) => {
      const hashes = versions.map(hashOf);
      const read = readEventId(toEventId('2026-01-31T12:00:00.123456Z', hashes));
      expect(read?.readAt).toBe('2026-01-31T12:00:00.123456Z');
      expect(read?.sent).toEqual(new Set(hashes.slice(-100)));
    }),
  );
});

it('any other text is no position, and is no error', () => {
  const isNone = (text: string): boolean => readEventId(text) === undefined;
  fc.assert(fc.property(fc.string(), isNone));
  const cursors = fc.record({ start_time: fc.string(), id: fc.string() });
  fc.assert(fc.property(cursors, (place) => isNone(toCursor(place))));
});
