import { describe, expect, it } from 'vitest';
import { roleStatements, sessionOptions } from './session-settings.ts';

const complete = {
  search_path: 'svc',
  datestyle: 'ISO, DMY',
  timezone: 'UTC',
  jit: 'off',
  random_page_cost: '1.1',
  statement_timeout: '30000',
  lock_timeout: '15000',
  idle_in_transaction_session_timeout: '30000',
};

describe('the settings of a session', () => {
  it('are the startup options of a connection to PostgreSQL', () => {
    expect(sessionOptions).toBe(
      '-c search_path=svc -c datestyle=ISO -c timezone=UTC -c jit=off -c random_page_cost=1.1',
    );
  });

  it('need no statement when the role has all of them', () => {
    expect(roleStatements({ role: 'svc', database: 'svc', settings: complete })).toEqual([]);
  });

  it('that differ are set for the role in this database, with quoted names', () => {
    const settings = { ...complete, datestyle: 'German, DMY', statement_timeout: '0' };
    expect(roleStatements({ role: 'my role', database: 'a"b', settings })).toEqual([
      `ALTER ROLE "my role" IN DATABASE "a""b" SET datestyle = 'ISO'`,
      `ALTER ROLE "my role" IN DATABASE "a""b" SET statement_timeout = '30000'`,
    ]);
  });

  it('that are not reported at all are set too', () => {
    expect(roleStatements({ role: 'svc', database: 'svc', settings: {} })).toHaveLength(8);
  });
});
