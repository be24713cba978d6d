// Programs of Debian that some tests need: prometheus, systemd, caddy, nginx, docker-compose.
//   SVC_TEST_DEPLOY_TOOLS unset      tests whose program is not installed are reported as not run
//   SVC_TEST_DEPLOY_TOOLS=required   they fail, as in CI
import { execFileSync } from 'node:child_process';
import { missingPrograms } from '../../packages/server/test/s3/availability.ts';

export const programs = [
  'caddy',
  'docker-compose',
  'nginx',
  'openssl',
  'promtool',
  'systemd-analyze',
] as const;

/** Why tests with these programs are not run; undefined when they are. */
export const whyNoPrograms = (names: readonly string[] = programs): string | undefined => {
  if (process.env['SVC_TEST_DEPLOY_TOOLS'] === 'required') return undefined;
  const missing = missingPrograms(names);
  return missing.length > 0
    ? `not installed: ${missing.join(', ')}; on Debian: scripts/install-test-programs.sh deploy`
    : undefined;
};

/** What the program prints on standard output. Throws with what it prints on standard error when it fails. */
export const output = (
  program: string,
  args: string[],
  options: { env?: NodeJS.ProcessEnv; input?: string } = {},
): string =>
  execFileSync(program, args, {
    encoding: 'utf8',
    input: options.input ?? '',
    env: { ...process.env, ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
