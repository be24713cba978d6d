import { Problem } from '@svc/contract/problem';
import pg from 'pg';
import { expect, it } from 'vitest';
import { WrongServer } from '../postgres/host-selector.ts';
import { toProblem } from '../postgres/sql-state.ts';
import { fallbackReasonOf, ReplicaTally, ReplicaUnusable } from './fallback.ts';

const databaseError = (code: string, { message = 'x', severity = 'ERROR' } = {}): unknown =>
  toProblem(Object.assign(new pg.DatabaseError(message, 1, 'error'), { code, severity }));

const unavailable = (cause: unknown): Problem => new Problem('unavailable', 'x', { cause });

it.each([
  ['a statement that conflicts with the replay', databaseError('40001'), 'conflict'],
  ['a session that conflicts with the replay', databaseError('40001', { severity: 'FATAL' }), 'conflict'],
  [
    'a cancel because of the replay',
    databaseError('57014', { message: 'canceling statement due to conflict with recovery' }),
    'conflict',
  ],
  ['a write', databaseError('25006'), 'error'],
  ['a table that does not exist yet', databaseError('42P01'), 'error'],
  ['a server that shuts down', databaseError('57P01', { severity: 'FATAL' }), 'unreachable'],
  ['a server without free connections', databaseError('53300', { severity: 'FATAL' }), 'unreachable'],
  ['a connection that breaks', unavailable(new Error('Connection terminated unexpectedly')), 'unreachable'],
  ['a primary', unavailable(new WrongServer('standby', { standby: false, read_only: false })), 'not_standby'],
  ['a lag', new ReplicaUnusable('lag', 'x'), 'lag'],
])('%s has a reason to read from the primary', (_name, error, reason) => {
  expect(fallbackReasonOf(error)).toBe(reason);
});

it.each([
  ['the time limit of a statement', databaseError('57014')],
  ['a problem that the work has thrown', new Problem('not_found', 'x')],
  ['a bug', new Error('x')],
])('%s is an error of the caller', (_name, error) => {
  expect(fallbackReasonOf(error)).toBeUndefined();
});

it('counts begin with 0', () => {
  const tally = new ReplicaTally();
  expect(tally.reads.get('exports')).toBe(0);
  expect(tally.fallbacks.get('traces')?.get('lag')).toBe(0);
  tally.addRead('exports', 3);
  tally.addFallback('traces', 'lag');
  expect(tally.reads.get('exports')).toBe(3);
  expect(tally.fallbacks.get('traces')?.get('lag')).toBe(1);
});
