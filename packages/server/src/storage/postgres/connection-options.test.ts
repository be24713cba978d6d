import { describe, expect, it } from 'vitest';
import { connectionSetup, directSetup, poolSizes } from './connection-options.ts';

const pooled = {
  connection: { connectionString: 'postgresql://svc@pooler/svc' },
  direct: { connectionString: 'postgresql://svc@direct/svc' },
};
const uriOf = ({ hosts }: ReturnType<typeof connectionSetup>): string =>
  decodeURIComponent(hosts.current.connectionString ?? '').replaceAll('+', ' ');

describe('the startup parameters of a connection', () => {
  it('have the settings and timeouts of sessions', () => {
    const setup = connectionSetup({ connection: pooled.connection });
    expect(setup).toMatchObject({
      isPooled: false,
      config: { statement_timeout: 30_000, lock_timeout: 15_000 },
    });
    expect(uriOf(setup)).toContain('-c search_path=svc');
  });

  it('have neither behind a pooler', () => {
    const setup = connectionSetup(pooled);
    expect(setup.isPooled).toBe(true);
    expect(Object.keys(setup.config).filter((name) => /_timeout$|options/.test(name))).toEqual([
      'query_timeout',
    ]);
    expect(uriOf(setup)).not.toContain('options');
  });

  it('of the direct connection have both', () => {
    const setup = directSetup(pooled);
    expect(setup).toMatchObject({ isPooled: false, config: { statement_timeout: 30_000 } });
    expect(uriOf(setup)).toMatch(/host=direct/);
    expect(uriOf(setup)).toContain('-c search_path=svc');
  });
});

it('short reads share no connection behind a pooler', () => {
  const { connection } = pooled;
  expect(poolSizes({ connection, poolMax: 10, sharesReads: true })).toEqual({ max: 9, sharesReads: true });
  expect(poolSizes({ ...pooled, poolMax: 10, sharesReads: true })).toEqual({ max: 10, sharesReads: false });
});
