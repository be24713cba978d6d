// The commands share a process, except where a test is about the process.
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { testDatabase } from '../database.ts';
import { createProject, runCli } from './cli-process.ts';
import { openSvcSession } from './session.ts';
import { fixture } from '../fixture.ts';

const session = fixture(() => openSvcSession());

const svc = (...args: string[]) => session.run(args, { cwd: tmpdir() });

describe('a process of svc', () => {
  it.each([
    [['--version'], { code: 0, stdout: '0.1.0\n', stderr: '' }],
    [
      ['strat'],
      { code: 2, stdout: '', stderr: expect.stringContaining("unknown command 'strat'") as string },
    ],
    [
      ['config', '--config', 'none'],
      { code: 1, stdout: '', stderr: expect.stringContaining('there is no such config file') as string },
    ],
  ])('%j prints its result, and sets the exit code', async (args, ended) => {
    expect(await runCli(args, { cwd: tmpdir() }).exit).toEqual(ended);
  });
});

describe('svc', () => {
  it.each([
    [['--help'], ['dev', 'start', 'migrate', 'config', 'Examples:']],
    [
      ['dev', '--help'],
      ['--port', '--config', 'Examples:'],
    ],
    [
      ['start', '--help'],
      ['--host', '--data-dir', '--executors', '--n-jobs-per-worker', 'SVC_PORT', 'Examples:'],
    ],
    [
      ['migrate', '--help'],
      ['--data-dir', 'Examples:'],
    ],
    [
      ['config', '--help'],
      ['--json', 'Examples:'],
    ],
    [['help', 'start'], ['--host']],
  ])('%j prints the expected text and exits 0', async (args, words) => {
    const { code, stdout } = await svc(...args);
    expect(code).toBe(0);
    for (const word of words) expect(stdout).toContain(word);
  });

  it.each([
    [['start', '--prot', '1'], 'Did you mean --port?'],
    [['start', '--port'], 'argument missing'],
    [['start', 'extra'], 'too many arguments'],
    [['config', '--xml'], 'unknown option'],
    [[], 'Usage: svc'],
  ])('%j is a usage error: it prints a message and exits 2', async (args, message) => {
    const { code, stdout, stderr } = await svc(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });

  it.each(['start', 'dev', 'config', 'migrate'])(
    '%s prints all mistakes of the configuration, no stack, and exits 1',
    async (command) => {
      using project = createProject({ graphs: { agent: './nope.ts:graph' }, env: ['API_TOKEN'] });
      const { code, stderr } = await session.run([command, '--data-dir', './data'], {
        cwd: project.dir,
        env: { SVC_LEASE: 'soon', DATABASE_URI: 'mysql://u:hunter2@h/d' },
      });
      expect(code).toBe(1);
      for (const part of [
        'There are 4 mistakes',
        'graphs.agent',
        'API_TOKEN is required',
        'SVC_LEASE',
        'DATABASE_URI',
      ]) {
        expect(stderr).toContain(part);
      }
      expect(stderr).not.toMatch(/hunter2|^\s+at /m);
    },
  );

  it.each(['migrate', 'migrate --plan'])(
    '%s refuses a database of a checkout before 0.1.0, and changes nothing',
    async (command) => {
      using project = createProject();
      await using db = await testDatabase();
      await db.script(`update schema_migrations set name = '0001-init', checksum = 'x' where version = 1;
        delete from schema_migrations where version = 5; delete from schema_functions`);
      const { code, stdout, stderr } = await session.run([...command.split(' '), '--data-dir', './data'], {
        cwd: project.dir,
        env: { DATABASE_URI: db.uri },
      });
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toContain(
        'The database contains data of a checkout before 0.1.0 (migration 0001-init differs). Start with an empty data folder or database',
      );
      const applied = await db.query({ name: 'applied', text: 'select from schema_migrations' }, []);
      expect(applied).toHaveLength(4);
      expect(await db.query({ name: 'functions', text: 'select from schema_functions' }, [])).toEqual([]);
    },
  );

  it('start without a config file prints how to write one', async () => {
    using project = createProject();
    const { code, stderr } = await session.run(['start', '--config', 'none'], { cwd: project.dir });
    expect(code).toBe(1);
    expect(stderr).toContain('there is no such config file');
    expect(stderr).toContain('{"graphs": {"agent": "./agent.ts:graph"}}');
  });
});

describe('svc config', () => {
  it('prints the values in force and their sources, without passwords', async () => {
    using project = createProject({
      graphs: { agent: './agent.ts:graph' },
      grahps: {},
      settings: { poolMax: 3 },
    });
    const { code, stdout, stderr } = await session.run(['config', '--port', '8080'], {
      cwd: project.dir,
      env: {
        N_JOBS_PER_WORKER: '4',
        DATABASE_URI: 'postgres://u:hunter2@h/d',
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/v1/traces',
        OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'collector',
      },
    });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^spans +sent to http:\/\/collector:4318\/v1\/traces$/m);
    expect(stderr).toContain('warning: OTEL_EXPORTER_OTLP_METRICS_ENDPOINT is not an http(s) URL');
    expect(stdout).toMatch(/SVC_PORT +8080 +flag --port/);
    expect(stdout).toMatch(/SVC_N_JOBS_PER_WORKER +4 +N_JOBS_PER_WORKER/);
    expect(stdout).toMatch(/SVC_POOL_MAX +3 +svc\.json settings\.poolMax/);
    expect(stdout).toMatch(/SVC_LEASE +30s +default/);
    expect(stdout).toContain('postgres://u:[redacted]@h/d');
    expect(stderr).toContain('did you mean "graphs"?');
  });

  it('treats a flag without a value as true', async () => {
    using project = createProject();
    const { stdout } = await session.run(['config', '--allow-anonymous'], { cwd: project.dir });
    expect(stdout).toMatch(/SVC_ALLOW_ANONYMOUS +true +flag --allow-anonymous/);
  });

  it('--json prints only JSON', async () => {
    using project = createProject();
    const { stdout } = await session.run(['config', '--json'], { cwd: project.dir });
    expect(JSON.parse(stdout)).toMatchObject({
      compat: false,
      graphs: [{ id: 'agent', export: 'graph' }],
      settings: expect.arrayContaining([
        { key: 'port', variable: 'SVC_PORT', value: '2024', origin: 'default' },
      ]),
    });
  });
});

describe('svc doctor', () => {
  const doctor = (dir: string, ...args: string[]) =>
    // Another program of this machine may have the default port.
    session.run(['doctor', '--data-dir', './data', ...args], { cwd: dir, env: { SVC_PORT: '0' } });

  it('prints each check, and exits 0 when there is no problem', async () => {
    using project = createProject();
    const { code, stdout } = await doctor(project.dir);
    expect(stdout).toMatch(/^ok +settings: /m);
    expect(stdout).toMatch(/^skipped +database, schema, .*: No server runs on the data folder/m);
    expect(stdout).toMatch(/^0 problems and \d warnings? found; \d+ checks skipped, so there may be more$/m);
    expect(code).toBe(0);
  });

  it('prints the remedy of a problem, and exits 1', async () => {
    using project = createProject({ graphs: { agent: './nope.ts:graph' } });
    const { code, stdout } = await doctor(project.dir);
    expect(stdout).toMatch(/^problem +settings: .*nope\.ts.*\n {9}\S/m);
    expect(code).toBe(1);
  });

  it('--json prints only JSON', async () => {
    using project = createProject({ graphs: { agent: './nope.ts:graph' } });
    const { code, stdout } = await doctor(project.dir, '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      checks: expect.arrayContaining([
        expect.objectContaining({ check: 'settings', status: 'problem', remedy: expect.any(String) }),
      ]),
    });
    expect(code).toBe(1);
  });
});
