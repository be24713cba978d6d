import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Call } from '../../api/handlers.ts';
import { threadPosition } from './call-headers.ts';

const positionOf = (header: string) => threadPosition({ header: () => header } as unknown as Call);

it('a Last-Event-ID of a thread stream is a run and the id of its event', () => {
  const run_id = randomUUID();
  expect(positionOf(`${run_id}:7`)).toEqual({ run_id, after: 7 });
  expect(positionOf(`${run_id}:end`)).toEqual({ run_id, after: 'end' });
  expect(positionOf('-')).toBe('beginning');
});

it.each([`${'-'.repeat(36)}:7`, `${'a'.repeat(36)}:7`, `${randomUUID()}:`, randomUUID()])(
  'a Last-Event-ID that names no run is ignored: %s',
  (header) => {
    expect(positionOf(header)).toBeUndefined();
  },
);
