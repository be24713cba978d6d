// svc doctor: the replica of SVC_DATABASE_REPLICA_URI.
import { afterEach, describe, expect, it } from 'vitest';
import { createProject } from '../cli/cli-process.ts';
import { testDatabase } from '../database.ts';
import { execute, startReplicaPair } from '../faults/replica-pair.ts';
import { examineInstallation } from './examine-installation.ts';
import { fixture } from '../fixture.ts';

const pair = fixture(() => startReplicaPair());
const project = fixture(() => createProject());
afterEach(async () => {
  await pair.standby.start();
  await pair.resumeReplay();
});

const examine = async (uri: string, env: Record<string, string> = {}): Promise<unknown[]> => {
  const variables = { DATABASE_URI: pair.db.uri, SVC_DATABASE_REPLICA_URI: uri, ...env };
  return (await examineInstallation(project.dir, { env: variables })).of('replica');
};

describe('the replica', () => {
  it('in order is named with its version and its lag', async () => {
    expect(await examine(pair.uriOf())).toMatchObject([
      {
        status: 'ok',
        message: expect.stringMatching(/PostgreSQL 1\d.* is a standby of the primary.*after \d+ ms/),
      },
    ]);
  });

  it('whose replay is paused is a warning with the bytes that it lacks', async () => {
    await pair.pauseReplay();
    await execute(pair.db, 'create table written_later as select * from generate_series(1, 1000)');
    expect(await examine(pair.uriOf(), { SVC_DATABASE_REPLICA_LAG_MAX: '2s' })).toMatchObject([
      {
        status: 'warning',
        message: expect.stringMatching(/ is \d{4,} bytes behind/),
        remedy: expect.any(String),
      },
    ]);
  });

  it('that is the primary is a problem', async () => {
    for (const uri of [
      pair.uriOf(pair.primary.port),
      `${pair.uriOf(pair.primary.port)}?target_session_attrs=any`,
    ])
      expect(await examine(uri)).toMatchObject([
        {
          status: 'problem',
          message: expect.stringContaining('standby'),
          remedy: expect.stringContaining('hot standby'),
        },
      ]);
  });

  it('of another PostgreSQL, or of another database, is a problem', async () => {
    await using other = await testDatabase();
    expect(await examine(pair.uriOf(), { DATABASE_URI: other.uri })).toMatchObject([
      { status: 'problem', message: expect.stringContaining('a standby of another PostgreSQL') },
    ]);
    expect(await examine(pair.uriOf().replace(/[^/]*$/, 'postgres'))).toMatchObject([
      { status: 'problem', message: expect.stringContaining('another database') },
    ]);
  });

  it('that cannot be reached is a problem, and the password is not shown', async () => {
    const found = await examine('postgresql://svc:hunter2@127.0.0.1:1/svc');
    expect(found).toMatchObject([{ status: 'problem', message: expect.stringContaining('ECONNREFUSED') }]);
    expect(JSON.stringify(found)).not.toContain('hunter2');
  });

  it('can be checked by a user without privileges, and is a problem with the functions to grant when it may not read positions', async () => {
    await execute(pair.db, 'create role plain login in role svc_tenant');
    await pair.caughtUp();
    const asPlain = (uri: string): string => uri.replace('//svc@', '//plain@');
    const env = { DATABASE_URI: asPlain(pair.db.uri) };
    expect(await examine(asPlain(pair.uriOf()), env)).toMatchObject([{ status: 'ok' }]);
    await execute(pair.db, 'revoke execute on function pg_control_system() from public');
    try {
      await pair.caughtUp();
      const found = await examine(asPlain(pair.uriOf()), env);
      expect(found).toMatchObject([
        { status: 'problem', remedy: expect.stringContaining('pg_control_system()') },
      ]);
    } finally {
      await execute(pair.db, 'grant execute on function pg_control_system() to public');
    }
  });
});
