// Runs Schemathesis, which makes requests from an OpenAPI document, where scripts/install-test-programs.sh has installed it.
//   SVC_TEST_SCHEMATHESIS=required   the tests run, and fail where it is not installed
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { it } from 'vitest';

const program = fileURLToPath(new URL('../../../../build/schemathesis/bin/schemathesis', import.meta.url));
const config = fileURLToPath(new URL('schemathesis.toml', import.meta.url));
const hooks = fileURLToPath(new URL('hooks.py', import.meta.url));

/** Why the tests with Schemathesis are not run; undefined when they are. */
export const whyNoSchemathesis = (): string | undefined =>
  existsSync(program) || process.env['SVC_TEST_SCHEMATHESIS'] === 'required'
    ? undefined
    : 'Schemathesis is not installed; on Debian: scripts/install-test-programs.sh schemathesis';

export const itWithSchemathesis = it.skipIf(whyNoSchemathesis() !== undefined);

interface SchemathesisOptions {
  /** Requests of an operation, at most, beside those of its examples and of the limits of its parameters. */
  examples: number;
  seed: number;
  headers: Record<string, string>;
  /** Operations whose responses do not end. */
  without: readonly string[];
}

/** Returns what it has printed; an empty text when all responses are those of the document. */
export const runSchemathesis = async (
  url: string,
  { examples, seed, headers, without }: SchemathesisOptions,
): Promise<string> => {
  const args = [
    `--config-file=${config}`,
    'run',
    `${url}/openapi.json`,
    '--no-color',
    `--max-examples=${examples}`,
    `--seed=${seed}`,
    ...Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
    ...without.flatMap((operation) => ['--exclude-operation-id', operation]),
  ];
  // It writes its findings into the working directory.
  const cwd = await mkdtemp(join(tmpdir(), 'svc-schemathesis-'));
  const printed = await new Promise<string>((resolve) => {
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', SCHEMATHESIS_HOOKS: hooks };
    execFile(program, args, { cwd, env, maxBuffer: 100_000_000 }, (error, stdout, stderr) =>
      resolve(error === null ? '' : `${stdout}\n${stderr}`),
    );
  });
  await rm(cwd, { recursive: true, force: true });
  return printed;
};
