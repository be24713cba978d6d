// sslmode in a URI means what it means for clients of PostgreSQL. The servers are proxies before the test's PostgreSQL, with or without TLS.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { databaseRemedy } from '../../src/cli/output/explain.ts';
import { connectionSetup } from '../../src/storage/postgres/connection-options.ts';
import { connectAny } from '../../src/storage/postgres/listener.ts';
import { testDatabase } from '../database.ts';
import { withoutUri } from '../global-setup.ts';
import { localhostCertificate, localhostKey } from './localhost-certificate.ts';
import { sharedFolder } from '../folders.ts';
import { fixture } from '../fixture.ts';

/** `both`: TLS for clients that ask for it. `tls`: only with TLS. `plain`: without TLS. */
type Kind = 'both' | 'tls' | 'plain';

const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const folder = sharedFolder();
const certificate = join(folder, 'ca.pem');

const database = fixture(() => testDatabase({ migrated: false }));
const servers = new Map<Kind, { server: Server; last: string }>();

const toDatabase = (): Socket => {
  const { host = 'localhost', port = 5432 } = withoutUri(inject('connection'));
  return host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
};

const forward = (client: Socket | TLSSocket, first?: Buffer): void => {
  const upstream = toDatabase();
  for (const socket of [client, upstream]) socket.on('error', () => undefined);
  if (first) upstream.write(first);
  client.pipe(upstream).pipe(client);
};

/** The error message of PostgreSQL for a client without an entry in pg_hba.conf. */
const refusal = (): Buffer => {
  const fields =
    'SFATAL\0C28000\0Mno pg_hba.conf entry for host "::1", user "u", database "d", no encryption\0\0';
  const length = Buffer.alloc(4);
  length.writeInt32BE(fields.length + 4);
  return Buffer.concat([Buffer.from('E'), length, Buffer.from(fields)]);
};

const serve = async (kind: Kind): Promise<void> => {
  const state = { server: createServer(), last: '' };
  state.server.on('connection', (socket: Socket) => {
    socket.on('error', () => undefined);
    const onData = (data: Buffer): void => {
      if (!data.equals(sslRequest)) {
        socket.removeListener('data', onData);
        if (kind === 'tls') return void socket.end(refusal());
        state.last = 'plain';
        return forward(socket, data);
      }
      if (kind === 'plain') return void socket.write('N');
      socket.removeListener('data', onData);
      socket.pause();
      socket.write('S', () => {
        const secure = new TLSSocket(socket, {
          isServer: true,
          key: localhostKey,
          cert: localhostCertificate,
        });
        state.last = 'tls';
        forward(secure);
      });
    };
    socket.on('data', onData);
  });
  state.server.listen(0);
  await once(state.server, 'listening');
  servers.set(kind, state);
};

beforeAll(async () => {
  writeFileSync(certificate, localhostCertificate);
  for (const each of ['both', 'tls', 'plain'] as const) await serve(each);
});
afterAll(() => {
  for (const { server } of servers.values()) server.close();
});

/** `tls` or `plain`, or the remedy for the error. */
const outcome = async (kind: Kind, query: string, host = 'localhost'): Promise<string> => {
  const state = servers.get(kind);
  if (!state) throw new Error(`no server ${kind}`);
  const { port } = state.server.address() as AddressInfo;
  const uri = new URL(database.uri);
  uri.host = `${host}:${port}`;
  uri.search = query.replace('CA', encodeURIComponent(certificate));
  const setup = connectionSetup({ connection: { connectionString: uri.href } });
  let client: pg.Client;
  try {
    client = await connectAny(setup);
  } catch (error) {
    return databaseRemedy((error as Error).message);
  }
  await client.query('select 1');
  await client.end();
  return state.last;
};

describe('sslmode', () => {
  it.each<[Kind, string, string | RegExp]>([
    ['both', '', 'plain'],
    ['both', 'sslmode=disable', 'plain'],
    ['both', 'sslmode=allow', 'plain'],
    ['both', 'sslmode=prefer', 'tls'],
    ['both', 'sslmode=require', 'tls'],
    ['both', 'sslmode=verify-ca&sslrootcert=CA', 'tls'],
    ['both', 'sslmode=verify-full&sslrootcert=CA', 'tls'],
    ['both', 'sslmode=verify-full', /sslrootcert/],
    ['both', 'sslmode=require&sslrootcert=/no/such/file', /files that this process can read/],
    ['plain', 'sslmode=disable', 'plain'],
    ['plain', 'sslmode=allow', 'plain'],
    ['plain', 'sslmode=prefer', 'plain'],
    ['plain', 'sslmode=require', /Switch on ssl/],
    ['plain', 'sslmode=verify-full&sslrootcert=CA', /Switch on ssl/],
    ['tls', '', /add sslmode=require/],
    ['tls', 'sslmode=disable', /add sslmode=require/],
    ['tls', 'sslmode=allow', 'tls'],
    ['tls', 'sslmode=prefer', 'tls'],
    ['tls', 'sslmode=require', 'tls'],
  ])('at a server with %s: %s', async (kind, query, expected) => {
    expect(await outcome(kind, query)).toMatch(expected);
  });

  it('verify-full compares the name of the host, and verify-ca does not', async () => {
    expect(await outcome('both', 'sslmode=verify-ca&sslrootcert=CA', '127.0.0.1')).toBe('tls');
    expect(await outcome('both', 'sslmode=verify-full&sslrootcert=CA', '127.0.0.1')).toMatch(
      /Use a host name of the server's certificate/,
    );
  });

  it('prefer does not leave TLS because of an outage', () => {
    const { hosts } = connectionSetup({
      connection: { connectionString: 'postgresql://u@a,b/d?sslmode=prefer' },
    });
    const modeOf = (): string => {
      const { searchParams } = new URL(hosts.current.connectionString ?? '');
      return `${searchParams.get('host')} ${searchParams.get('sslmode')}`;
    };
    const seen = [modeOf()];
    for (const code of ['ECONNREFUSED', 'ETIMEDOUT', '28000', 'ECONNREFUSED', 'ECONNREFUSED']) {
      hosts.leave(hosts.current, Object.assign(new Error('x'), { code }));
      seen.push(modeOf());
    }
    expect(seen).toEqual(['a require', 'b require', 'a require', 'a disable', 'b require', 'a require']);
  });
});
