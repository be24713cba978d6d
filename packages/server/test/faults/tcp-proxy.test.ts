import pg from 'pg';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { eventually } from '../eventually.ts';
import { queryOnce, startPostgres } from './postgres.ts';
import { openProxy, type TcpProxy } from './tcp-proxy.ts';
import { fixture } from '../fixture.ts';

const postgres = fixture(() => startPostgres());
let database: string;
beforeAll(async () => {
  database = await postgres.createDatabase();
  await queryOnce(postgres.connection(database), 'create table marks (what text)');
});

let proxy: TcpProxy;
let client: pg.Client;
beforeEach(async () => {
  proxy = await openProxy({ host: '127.0.0.1', port: postgres.port });
  client = new pg.Client({ ...postgres.connection(database), port: proxy.port });
  client.on('error', () => undefined); // the query rejects with the same error
  await client.connect();
});
afterEach(async () => {
  await proxy[Symbol.asyncDispose]();
  await client.end();
});

const stored = async (what: string): Promise<number> =>
  (await queryOnce(postgres.connection(database), 'select 1 from marks where what = $1', [what])).length;

describe('a network that', () => {
  it('is not failing forwards all data', async () => {
    const { rows } = await client.query<{ text: string }>(`select repeat('x', 100000) as text`);
    expect(rows[0]?.text).toHaveLength(100_000);
    expect(proxy.connections).toBe(1);
  });

  it('drops all packets delivers them when it is repaired', async () => {
    proxy.blackhole();
    const answered = vi.fn();
    const query = client.query('select 1').then(answered);
    expect(await stored('nothing')).toBe(0); // takes as long as a round trip
    expect(answered).not.toHaveBeenCalled();
    proxy.pass();
    await query;
  });

  it('drops all packets does not answer new connections', async () => {
    proxy.blackhole();
    const blockedClient = new pg.Client({
      ...postgres.connection(database),
      port: proxy.port,
      connectionTimeoutMillis: 200,
    });
    await expect(blockedClient.connect()).rejects.toThrow('timeout');
  });

  it('resets connections does so on both sides', async () => {
    const query = client.query('select pg_sleep(10)');
    proxy.reset();
    await expect(query).rejects.toThrow();
    await eventually(() => expect(proxy.connections).toBe(0));
  });

  it('refuses connections does so until it is repaired', async () => {
    proxy.refuse();
    await expect(client.query('select 1')).rejects.toThrow();
    const config = { ...postgres.connection(database), port: proxy.port };
    await expect(queryOnce(config, 'select 1')).rejects.toThrow();
    proxy.pass();
    expect(await queryOnce(config, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('is slow delays packets in both directions', async () => {
    proxy.delay(100);
    const before = performance.now();
    await client.query('select 1');
    expect(performance.now() - before).toBeGreaterThan(190);
  });

  it('resets after a number of bytes forwards that number', async () => {
    proxy.cutAfter(50_000);
    await client.query(`select repeat('x', 10000)`);
    await expect(client.query(`select repeat('x', 100000)`)).rejects.toThrow();
  });

  it('loses the response to a commit loses nothing else', async () => {
    const lost = proxy.dropReplyOnce('insert into marks');
    await client.query('select 1');
    await expect(client.query(`insert into marks values ('once')`)).rejects.toThrow();
    await lost;
    expect(await stored('once')).toBe(1);
  });

  it('loses the response to a named statement', async () => {
    const query = { name: 'insert_mark', text: 'insert into marks values ($1)' };
    await client.query({ ...query, values: ['first'] });
    const lost = proxy.dropReplyOnce('insert_mark');
    await expect(client.query({ ...query, values: ['second'] })).rejects.toThrow();
    await lost;
    expect(await stored('second')).toBe(1);
  });
});

describe('a PostgreSQL of a test', () => {
  it('ends sessions, and recovers from a crash with all commits', async () => {
    await client.query(`insert into marks values ('kept')`);
    expect(await postgres.terminateBackends(database, 10)).toBeGreaterThan(0);
    await expect(client.query('select 1')).rejects.toThrow();
    await postgres.restart('immediate');
    expect(await stored('kept')).toBe(1);
  });
});
