import { Problem } from '@svc/contract/problem';
import { describe, expect, it } from 'vitest';
import { explain } from './explain.ts';

describe('the error message of a command', () => {
  it('has the remedy when the database cannot be reached, and the cause once', () => {
    const cause = new Error('password authentication failed for user "svc"');
    const error = new Problem('unavailable', `The database cannot be reached: ${cause.message}`, { cause });
    expect(explain(error).split('\n')).toEqual([
      'svc: The database cannot be reached: password authentication failed for user "svc"',
      '  Correct the user and the password in DATABASE_URI, or allow this host in pg_hba.conf.',
    ]);
  });

  it('has the statements when the user may not connect to the database', () => {
    const cause = new Error('permission denied for database "agents"');
    const error = new Problem('unavailable', `The database cannot be reached: ${cause.message}`, { cause });
    expect(explain(error)).toMatch(/\n  As an administrator: .*GRANT CONNECT/);
  });

  it('names svc doctor when the user of the database lacks a right', () => {
    const error = Object.assign(new Error('permission denied for database agents'), { code: '42501' });
    expect(explain(error)).toMatch(/^svc: permission denied for database agents\n  .*svc doctor/);
  });

  it.each(['EACCES', 'EROFS'])('has the remedy when a path may not be written: %s', (code) => {
    const error = Object.assign(new Error(`${code}: mkdir '/backups'`), { code });
    expect(explain(error)).toMatch(/mkdir '\/backups'\n  Grant this user permission for this path/);
  });

  it('has the causes of other errors', () => {
    expect(explain(new Error('no backup', { cause: new Error('ENOENT') }))).toBe(
      'svc: no backup\n  because: ENOENT',
    );
  });
});
