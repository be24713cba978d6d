// svc conformance: its exit codes and its output. packages/conformance tests the checks.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serveHttp } from '../serve-http.ts';
import { runCli } from './cli-process.ts';
import { sharedFolder } from '../folders.ts';

const dir = sharedFolder();

const conformance = async (...args: string[]) => {
  await using cli = runCli(['conformance', ...args], { cwd: dir });
  return await cli.exit;
};

/** A server that answers every request with this body. */
const serverWith = (body: string) =>
  serveHttp((_, out) => out.writeHead(200, { 'content-type': 'application/json' }).end(body));

describe('svc conformance', () => {
  it.each([
    ['an invalid address', ['localhost'], 'flag URL'],
    ['an unknown area', ['http://127.0.0.1:1', '--only', 'nothing'], 'flag --only'],
    ['a header without a value', ['http://127.0.0.1:1', '--header', 'authorization'], 'flag --header'],
    ['a time limit that is not a number', ['http://127.0.0.1:1', '--timeout', 'long'], 'flag --timeout'],
    ['no address', [], 'url'],
  ])('ends with 2 for %s', async (_, args, message) => {
    const { code, stderr } = await conformance(...args);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  it('does not print an invalid header', async () => {
    const { code, stderr, stdout } = await conformance('http://127.0.0.1:1', '--header', 'secret-token');
    expect(code).toBe(2);
    expect(stderr + stdout).not.toContain('secret-token');
  });

  it('ends with 3 when the server cannot be reached', async () => {
    const { code, stderr } = await conformance('http://127.0.0.1:1');
    expect(stderr).toContain('does not answer');
    expect(code).toBe(3);
  });

  it('ends with 1 when a check fails, prints control characters as ?, and writes the report', async () => {
    await using server = await serverWith(JSON.stringify({ ok: '\u001B[31m' }) + '\u009B31m');
    const file = join(dir, 'report.json');
    const { code, stdout } = await conformance(server.url, '--only', 'system', '--json', file);
    expect(code).toBe(1);
    expect(stdout).toContain('does not conform');
    for (const control of ['\u001B', '\u009B']) expect(stdout).not.toContain(control);
    const report = JSON.parse(readFileSync(file, 'utf8')) as { passed: boolean; results: { area: string }[] };
    expect(report.passed).toBe(false);
    expect(new Set(report.results.map(({ area }) => area))).toEqual(new Set(['system']));
  });
});
