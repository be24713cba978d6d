// svc doctor: the database, and what is stored in it.
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { checkClock } from '../../src/cli/doctor/database.ts';
import { openEmbedded } from '../../src/storage/embedded/embedded.ts';
import { openDatabase } from '../../src/storage/postgres/database.ts';
import { installationStorage } from '../../src/storage/postgres/installation.ts';
import { asTenant } from '../../src/storage/postgres/tenant.ts';
import { migrate } from '../../src/storage/schema/migrate.ts';
import { createStorage } from '../../src/storage/storage.ts';
import { createProject, type Project } from '../cli/cli-process.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { type Findings, examineInstallation } from './examine-installation.ts';

let project: Project;
let db: TestDatabase;
beforeEach(async () => {
  project = createProject();
  db = await testDatabase();
});
afterEach(async () => {
  await db[Symbol.asyncDispose]();
  project[Symbol.dispose]();
});

const examine = (flags: object = {}, env: Record<string, string> = {}): Promise<Findings> =>
  examineInstallation(project.dir, { flags, env: { DATABASE_URI: db.uri, ...env } });

const run = (text: string, values: unknown[] = []) => db.query({ text }, values);

describe('the database', () => {
  it('in order has no finding but the version of Node', async () => {
    const found = await examine();
    expect(found.filter(({ status, check }) => status !== 'ok' && check !== 'node')).toEqual([]);
    expect(found.map(({ check }) => check)).toEqual(
      expect.arrayContaining([
        'database',
        'schema',
        'clock',
        'connections',
        'rights',
        'destinations',
        'webhooks',
      ]),
    );
  });

  it('that cannot be reached is a problem, the password is not shown, and what depends on it is skipped', async () => {
    const found = await examine({}, { DATABASE_URI: 'postgres://svc:hunter2@127.0.0.1:1/svc' });
    expect(found.of('database')).toMatchObject([
      {
        status: 'problem',
        message: expect.stringContaining('ECONNREFUSED'),
        remedy: expect.stringContaining('host and port'),
      },
    ]);
    expect(found.of('schema')).toMatchObject([{ status: 'skipped' }]);
    expect(JSON.stringify(found)).not.toContain('hunter2');
  });

  it('that does not respond is a problem after the time limit of the URI', async () => {
    const silent = net.createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
    const { port } = silent.address() as net.AddressInfo;
    try {
      const found = await examine(
        {},
        { DATABASE_URI: `postgres://svc@127.0.0.1:${port}/svc?connect_timeout=1` },
      );
      expect(found.of('database')).toMatchObject([{ status: 'problem' }]);
    } finally {
      silent.close();
    }
  });

  it('that is read-only is a problem', async () => {
    const found = await examine(
      {},
      {
        DATABASE_URI: `${db.uri}${db.uri.includes('?') ? '&' : '?'}options=${encodeURIComponent('-c default_transaction_read_only=on')}`,
      },
    );
    expect(found.of('database')).toMatchObject([
      { status: 'problem', message: expect.stringContaining('read-only') },
    ]);
  });

  it('behind a pooler needs settings of the role, and a direct connection to the same database', async () => {
    const lacking = await examine({}, { SVC_DATABASE_LISTEN_URI: db.uri });
    expect(lacking.of('database')).toMatchObject([
      { status: 'problem', message: expect.stringContaining(`SET search_path = 'svc';`) },
    ]);
    for (const [statement] of lacking.of('database')[0]?.message.matchAll(/ALTER ROLE [^;]*/g) ?? [])
      await run(statement);
    const complete = await examine({}, { SVC_DATABASE_LISTEN_URI: db.uri });
    expect([...complete.of('database'), ...complete.of('direct connection')]).toMatchObject([
      { status: 'ok' },
      { status: 'ok' },
    ]);
    expect(complete.of('connections')).toMatchObject([
      { status: 'ok', message: expect.stringContaining('max_client_conn') },
    ]);
    await using other = await testDatabase({ migrated: false });
    const elsewhere = await examine({}, { SVC_DATABASE_LISTEN_URI: other.uri });
    expect(elsewhere.of('direct connection')).toMatchObject([
      { status: 'problem', remedy: expect.stringContaining('the database of DATABASE_URI') },
    ]);
  });

  it('of the embedded server is read while it runs, and not attached to', async () => {
    const dataDir = join(inject('scratch'), `doctor-${randomUUID()}`);
    {
      await using _server = await openEmbedded({ dataDir });
      const files = await readdir(dataDir);
      const found = await examineInstallation(project.dir, { flags: { dataDir } });
      expect(found.of('embedded PostgreSQL')).toMatchObject([
        { status: 'ok', message: expect.stringContaining('runs on') },
      ]);
      expect(found.of('database')).toMatchObject([{ status: 'ok' }]);
      expect(found.of('schema')).toMatchObject([
        { status: 'ok', message: expect.stringContaining('no schema yet') },
      ]);
      expect(found.of('webhooks')).toMatchObject([{ status: 'skipped' }]);
      expect(await readdir(dataDir)).toEqual(files);
    }
    await rm(dataDir, { recursive: true, force: true });
  });
});

describe('the schema', () => {
  it('that lacks a migration is a warning that names svc migrate', async () => {
    await run("delete from schema_migrations where name = '0005-exports'");
    expect((await examine()).of('schema')).toMatchObject([
      {
        status: 'warning',
        message: expect.stringContaining('0005-exports'),
        remedy: expect.stringContaining('svc migrate'),
      },
    ]);
  });

  it('into which a restore has not finished is a problem that names svc restore', async () => {
    await run('create table restore_unfinished ()');
    expect((await examine()).of('schema')).toMatchObject([
      { status: 'problem', remedy: expect.stringContaining('svc restore') },
    ]);
  });

  it('of a checkout before 0.1.0 is a problem that names an empty data folder or database', async () => {
    await run("update schema_migrations set name = '0001-init', checksum = 'x' where version = 1");
    expect((await examine()).of('schema')).toMatchObject([
      {
        status: 'problem',
        message: expect.stringContaining('data of a checkout before 0.1.0'),
        remedy: 'Start with an empty data folder or database.',
      },
    ]);
  });

  it('of a newer release is a warning, and a problem when it excludes this one', async () => {
    await run("insert into schema_migrations (version, name, checksum) values (9000, '9000-later', 'x')");
    expect((await examine()).of('schema')).toMatchObject([
      { status: 'warning', message: expect.stringContaining('9000-later') },
    ]);
    await run('update schema_migrations set serves_from = 8999 where version = 9000');
    expect((await examine()).of('schema')).toMatchObject([{ status: 'problem' }]);
  });
});

describe('the clock', () => {
  it.each([
    [0, 'ok'],
    [60_000, 'warning'],
    [-60_000, 'warning'],
    [3_600_000, 'problem'],
  ])('%s ms ahead of the database: %s', async (aheadMs, status) => {
    const outcome = await checkClock(installationStorage(db), () => Date.now() + aheadMs);
    expect(outcome).toMatchObject({ status });
    if (aheadMs !== 0) expect(outcome.message).toContain(aheadMs > 0 ? 'ahead of' : 'behind');
  });
});

describe('connections', () => {
  it('that do not suffice for the executors are a problem with advice', async () => {
    await run(`alter database ${db.options.connection.database} connection limit 5`);
    const found = await examine();
    expect(found.of('connections')).toMatchObject([
      { status: 'problem', remedy: expect.stringContaining('raise max_connections') },
    ]);
  });

  it('that other servers have planned count', async () => {
    await run(
      `insert into workers (worker_id, name, slots, running, draining, connections, graphs)
       values (gen_random_uuid(), 'other', 1, 0, false, 100000, '{}')`,
    );
    expect((await examine()).of('connections')).toMatchObject([{ status: 'warning' }]);
  });
});

describe('the rights of the database user', () => {
  it('that owns nothing are a problem each, with the statement that corrects it', async () => {
    const user = `svc_weak_${randomBytes(4).toString('hex')}`;
    await run(`create role ${user} login password 'weak'`);
    try {
      await run(`grant usage on schema svc to ${user}`);
      const uri = db.uri.replace(/\/\/[^@]*@/, `//${user}:weak@`);
      const found = await examine({}, { DATABASE_URI: uri });
      expect(found.of('rights').map(({ status }) => status)).toEqual(['problem', 'problem', 'warning']);
      expect(found.of('rights')[0]?.remedy).toContain(`ALTER SCHEMA svc OWNER TO "${user}"`);
      expect(found.of('webhooks')).toMatchObject([
        { status: 'warning', remedy: expect.stringContaining('Grant') },
      ]);
    } finally {
      await run(`revoke all on schema svc from ${user}`);
      await run(`drop role ${user}`);
    }
  });
});

describe('row level security', () => {
  it('that is off while the user is a member of svc_tenant is a warning, and traces work', async () => {
    await run('alter table trace_runs disable row level security');
    expect((await examine()).of('rights')).toMatchObject([
      { status: 'warning', message: expect.stringContaining('no row level security') },
    ]);
    await run('revoke all on trace_runs from svc_tenant');
    await asTenant(db, randomUUID(), (tx) => tx.script('select from trace_runs'));
  });

  it('is on when an administrator has granted svc_tenant to a user who may not create roles', async () => {
    const user = `svc_member_${randomBytes(4).toString('hex')}`;
    await run(`create role ${user} login password 'weak'`);
    try {
      await run(`grant svc_tenant to ${user}`);
      await using empty = await testDatabase({ migrated: false });
      await run(`grant create on database ${empty.options.connection.database} to ${user}`);
      const uri = empty.uri.replace(/\/\/[^@]*@/, `//${user}:weak@`);
      expect((await examine({}, { DATABASE_URI: uri })).of('rights')).toMatchObject([{ status: 'ok' }]);
      {
        await using weak = await openDatabase({
          connection: { ...empty.options.connection, user, password: 'weak' },
        });
        await migrate(weak);
        const tenant_id = randomUUID();
        await weak.script(`insert into workspaces (id, display_name) values ('${tenant_id}', 'team')`);
        await asTenant(weak, tenant_id, async (tx) => {
          await tx.script(
            `insert into projects (tenant_id, id, name) values ('${tenant_id}', gen_random_uuid(), 'shop')`,
          );
          for (const table of [
            'trace_days',
            'tenant_runs',
            'trace_run_days',
            'trace_runs',
            'trace_attachments',
            'trace_orphans',
          ])
            await tx.script(`select from ${table}`);
        });
      }
      expect((await examine({}, { DATABASE_URI: uri })).of('rights')).toMatchObject([{ status: 'ok' }]);
    } finally {
      await run(`drop role ${user}`);
    }
  });
});

describe('the encryption key', () => {
  it('that is not the one of the database is a problem, and none is generated', async () => {
    const storage = createStorage(db);
    await storage.encryptionKeys.register('0123abcd');
    const found = await examine();
    expect(found.of('encryption key')).toMatchObject([
      { status: 'problem', message: expect.stringMatching(/0123abcd.*no key/) },
    ]);
    const other = await examine({}, { SVC_ENCRYPTION_KEY: randomBytes(32).toString('hex') });
    expect(other.of('encryption key')).toMatchObject([{ status: 'problem' }]);
  });
});

describe('destinations of exports', () => {
  const create = async (config: object): Promise<void> => {
    const storage = createStorage(db);
    const tenant_id = randomUUID();
    await storage.workspaces.create({ id: tenant_id, display_name: 'shop' });
    await storage.destinations.create({
      tenant_id,
      id: randomUUID(),
      destination_type: 'file',
      display_name: 'disk',
      config: JSON.stringify(config),
      credentials: null,
      credentials_keys: [],
      aws_role_arn: null,
      abilities: {},
    });
  };

  it('that can be written to are in order, and their rows are not changed', async () => {
    await create({ path: 'shop' });
    const before = await run('select * from export_destinations');
    expect((await examine()).of('destinations')).toMatchObject([
      { status: 'ok', message: expect.stringContaining('"disk"') },
    ]);
    expect(await run('select * from export_destinations')).toEqual(before);
  });

  it('that cannot be written to are a problem with the reason', async () => {
    await create({ path: 'shop' });
    await mkdir(join(project.dir, 'data', 'exports'), { recursive: true });
    await writeFile(join(project.dir, 'data', 'exports', 'shop'), 'a file, not a folder');
    expect((await examine()).of('destinations')).toMatchObject([
      {
        status: 'problem',
        message: expect.stringContaining('cannot be written to'),
        remedy: expect.any(String),
      },
    ]);
  });
});

describe('webhooks', () => {
  it('that fail are counted, with the last error', async () => {
    const insert = `insert into webhook_deliveries (run_id, thread_id, url, run, error, status)
      values (gen_random_uuid(), gen_random_uuid(), $1, '{}', $2, $3)`;
    await run(insert, ['https://a.example.com/secret-path', 'status 500', 'pending']);
    await run(insert, ['https://b.example.com/hook', null, 'pending']);
    await run(insert, ['https://c.example.com/hook', 'status 410', 'failed']);
    const [finding] = (await examine()).of('webhooks');
    expect(finding).toMatchObject({
      status: 'warning',
      message: expect.stringMatching(/^1 webhook could not.*https:\/\/a\.example\.com: status 500/),
    });
    expect(finding?.message).not.toContain('secret-path');
  });
});
