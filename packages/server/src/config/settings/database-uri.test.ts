import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { parseDatabaseUri } from './database-uri.ts';

/** Parses the URI, and returns what the driver reads from each host's URI. */
const read = (text: string) => {
  const parsed = parseDatabaseUri(text);
  if ('problem' in parsed) return parsed.problem;
  return parsed.hosts
    .flatMap(({ uris }) => uris)
    .map((uri) => {
      const { user, host, port, database, password } = new pg.Client({ connectionString: uri });
      return [user, password, host, port, database].join(' ');
    });
};

describe('a PostgreSQL URI', () => {
  it.each([
    ['postgresql://u:p@h:5433/db', ['u p h 5433 db']],
    ['postgres://u:p%40%2F@h/db', ['u p@/ h 5432 db']],
    ['postgresql://u:p@ss@h/db', ['u p@ss h 5432 db']],
    ['postgresql://u:p@[::1]:5433/db', ['u p ::1 5433 db']],
    [
      'postgresql://u:p@h1:5433,h2:5434/db?target_session_attrs=read-write',
      ['u p h1 5433 db', 'u p h2 5434 db'],
    ],
    ['postgresql://u:p@h1,h2:5434,[fe80::1]/db', ['u p h1 5432 db', 'u p h2 5434 db', 'u p fe80::1 5432 db']],
    ['postgresql://u:p@/db?host=/run/postgresql', ['u p /run/postgresql 5432 db']],
    ['postgresql://u:p@%2Frun%2Fpostgresql/db', ['u p /run/postgresql 5432 db']],
    ['postgresql://u:p@%2Frun%2Fpostgresql:5433/db', ['u p /run/postgresql 5433 db']],
    ['postgresql://u:p@localhost/db?host=%2Frun%2Fpg&port=6000', ['u p /run/pg 6000 db']],
    ['postgresql://u:p@/db?host=a,b&port=1,2', ['u p a 1 db', 'u p b 2 db']],
    ['postgresql://u:p@/db?host=a,b&port=7', ['u p a 7 db', 'u p b 7 db']],
    ['postgresql://h/?user=u&password=p&dbname=db', ['u p h 5432 db']],
    ['postgresql://u:p@h/d%20b%C3%A9', ['u p h 5432 d bé']],
  ])('is split by host: %s', (text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  it.each([
    ['mysql://h/db', 'is not a PostgreSQL URI'],
    ['postgresql://u:p#w@h/db', 'is not a PostgreSQL URI'],
    ['postgresql://h:x/db', 'names a host or a port that cannot be read'],
    ['postgresql://h:99999/db', 'names a port that is none'],
    ['postgresql://a,b/db?port=1,2,3', 'names 2 hosts and 3 ports'],
    ['postgresql://h/%', 'has a database name that is not percent-encoded'],
    ['postgresql://h/db?connect_timeout=soon', 'has a connect_timeout that is no number of seconds'],
    [
      'postgresql://h/db?target_session_attrs=master',
      'has a target_session_attrs that is none of any, read-write, read-only, primary, standby, prefer-standby',
    ],
    [
      'postgresql://h/db?sslmode=no-verify',
      'has an sslmode that is none of disable, allow, prefer, require, verify-ca, verify-full',
    ],
    [
      'postgresql://h/db?sslmode=verify-ca',
      'has sslmode=verify-ca, which needs the certificate of the authority in sslrootcert',
    ],
    [
      'postgresql://h/db?sslmode=require&sslrootcert=system',
      'has sslrootcert=system, which needs sslmode=verify-full',
    ],
  ])('%s is rejected', (text, problem) => {
    expect(read(text)).toBe(problem);
  });

  it('keeps other parameters, and appends options to existing ones', () => {
    const parsed = parseDatabaseUri(
      'postgresql://h/db?sslmode=require&options=-c%20work_mem%3D8MB&connect_timeout=3&application_name=x',
      { options: '-c jit=off' },
    );
    if ('problem' in parsed) throw new Error(parsed.problem);
    expect(parsed.connectTimeoutMs).toBe(3_000);
    const [host] = parsed.hosts;
    const { searchParams } = new URL(host?.uris[0] ?? '');
    expect(Object.fromEntries(searchParams)).toEqual({
      application_name: 'x',
      host: 'h',
      options: '-c work_mem=8MB -c jit=off',
      sslmode: 'require',
      uselibpqcompat: 'true',
    });
  });
});
