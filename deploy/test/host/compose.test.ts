import { join } from 'node:path';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { createProgram } from '../../../packages/server/src/cli/program.ts';
import { output } from '../programs.ts';
import { itWithPrograms } from '../with-programs.ts';

const file = join(import.meta.dirname, '../../compose/compose.yaml');

const secrets = {
  SVC_IMAGE: 'my-agent',
  POSTGRES_PASSWORD: 'p'.repeat(32),
  SVC_ENCRYPTION_KEY: 'e'.repeat(64),
  SVC_API_KEY: 'k'.repeat(32),
};

interface Compose {
  services: Record<
    string,
    {
      command?: string[];
      read_only?: boolean;
      environment: Record<string, string>;
      stop_grace_period?: string;
    }
  >;
}

const read = (env: Record<string, string>): Compose =>
  parse(output('docker-compose', ['--file', file, 'config'], { env })) as Compose;

itWithPrograms(['docker-compose'], 'the compose file is valid, and starts commands that exist', () => {
  const { services } = read(secrets);
  expect(Object.keys(services).toSorted()).toEqual(['api', 'caddy', 'migration', 'postgres', 'worker']);
  const program = createProgram();
  for (const name of ['api', 'migration', 'worker']) {
    const [word, ...flags] = services[name]?.command ?? [];
    const command = program.commands.find((one) => one.name() === word);
    const parsed = command?.action(() => undefined).parseOptions(flags);
    expect(parsed, `${word}`).toMatchObject({ operands: [], unknown: [] });
    expect(services[name]).toMatchObject({ read_only: true, stop_grace_period: '210s' });
  }
});

itWithPrograms(['docker-compose'], 'the compose file names a secret that is not set', () => {
  for (const name of Object.keys(secrets))
    expect(() => read({ ...secrets, [name]: '' })).toThrow(`set ${name}`);
});
