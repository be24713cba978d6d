// svc destinations. Secrets are read from the environment or standard input, because other users can read a command line.
import { posix } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import type { Destination, NewCredentials, NewDestination, PlatformClient, Probe } from '@svc/sdk';
import { processEnvironment } from '../../config/environment.ts';
import { exitCodes } from '../output/exit-code.ts';
import { type FlagValues, textOf } from '../flags.ts';
import { connect, isId } from '../platform-api.ts';
import { mistake, printable } from '../server-address.ts';
import { isPrefix, pickByPrefix } from '../output/short-id.ts';
import { printTable } from '../output/table.ts';

/** Resolves a name, an id, or four or more of the first characters of an id. A name is preferred to the start of an id. */
export const destinationId = async (client: PlatformClient, named: string): Promise<string> => {
  if (isId(named)) return named;
  const all = await client.destinations.list();
  const found = all.filter(({ display_name }) => display_name === named);
  if (found.length > 1)
    throw mistake('destination', named, `There are ${found.length} with this name: give the id of one.`);
  const one = found[0] ?? (isPrefix(named) ? pickByPrefix(all, named) : undefined);
  if (one === undefined)
    throw new Error(
      `There is no destination with the name or id ${printable(named)} (see svc destinations list)`,
    );
  return one.id;
};

/** Returns the destination of a folder of the server; creates it when there is none. */
export const folderDestination = async (client: PlatformClient, folder: string): Promise<Destination> => {
  const path = posix.normalize(folder).replace(/(?<=.)\/$/, '');
  const found = (await client.destinations.list()).find(
    ({ destination_type, config }) => destination_type === 'file' && config['path'] === path,
  );
  const display_name = `folder ${path.replaceAll(/[^a-zA-Z0-9\-_ ']+/g, ' ').trim()}`.slice(0, 255).trim();
  return found ?? client.destinations.create({ destination_type: 'file', display_name, config: { path } });
};

export async function createDestination(values: FlagValues): Promise<void> {
  const made = await connect(values).client.destinations.create(await toDestination(values));
  if (values['json'] === true) return console.log(JSON.stringify(made, null, 2));
  console.error(`Destination ${printable(made.display_name)}: a test file was written.`);
  console.log(made.id);
}

const toDestination = async (values: FlagValues): Promise<NewDestination> => {
  const display_name = textOf(values, 'name') ?? '';
  const [bucket_name, path] = [textOf(values, 'bucket'), textOf(values, 'folder')];
  if ((bucket_name === undefined) === (path === undefined))
    throw mistake('--bucket', bucket_name, 'Give either a bucket, or a folder with --folder.');
  if (bucket_name === undefined) {
    const config = { path: posix.normalize(path ?? '').replace(/(?<=.)\/$/, '') };
    return { destination_type: 'file', display_name, config };
  }
  const addressing_style = textOf(values, 'addressingStyle');
  const config = {
    bucket_name,
    prefix: textOf(values, 'prefix'),
    endpoint_url: textOf(values, 'endpoint'),
    region: textOf(values, 'region'),
    ...(addressing_style === undefined ? {} : { config_kwargs_s3: { addressing_style } }),
    ...jsonOption(values, 'uploadOptions', 's3_additional_kwargs'),
  };
  // The server validates it.
  return { destination_type: 's3', display_name, config, ...(await credentialsOf(values)) } as NewDestination;
};

const jsonOption = (values: FlagValues, flag: string, name: string): Record<string, unknown> => {
  const text = textOf(values, flag);
  if (text === undefined) return {};
  try {
    return { [name]: JSON.parse(text) as unknown };
  } catch {
    throw mistake('--upload-options', text, 'Give an object in JSON: {"ServerSideEncryption": "aws:kms"}.');
  }
};

const credentialsOf = async (values: FlagValues): Promise<NewCredentials> => {
  const [from, aws_role_arn] = [textOf(values, 'credentials'), textOf(values, 'roleArn')];
  if (aws_role_arn !== undefined && from === undefined) return { aws_role_arn };
  if (from === undefined) return {};
  if (aws_role_arn !== undefined)
    throw mistake('--role-arn', aws_role_arn, 'Give either a role, or credentials.');
  if (from === 'env') return { credentials: fromEnvironment() };
  if (from === '-') return { credentials: await fromInput() };
  throw mistake(
    '--credentials',
    '…',
    'Give env (AWS_ACCESS_KEY_ID and so on) or - (JSON on standard input).',
  );
};

type Credentials = NonNullable<NewCredentials['credentials']>;

const fromEnvironment = (): Credentials => {
  const env = processEnvironment();
  const needed = (name: string): string => {
    const value = env[name];
    if (value === undefined || value === '') throw mistake(name, undefined, '--credentials env reads it.');
    return value;
  };
  const session_token = env['AWS_SESSION_TOKEN'];
  return {
    access_key_id: needed('AWS_ACCESS_KEY_ID'),
    secret_access_key: needed('AWS_SECRET_ACCESS_KEY'),
    ...(session_token === undefined || session_token === '' ? {} : { session_token }),
  };
};

const fromInput = async (): Promise<Credentials> => {
  try {
    return JSON.parse(await readAll(process.stdin)) as Credentials;
  } catch {
    // The error message could contain the secret.
    throw mistake(
      'standard input',
      undefined,
      'Write {"access_key_id": "…", "secret_access_key": "…"} to it.',
    );
  }
};

export async function listDestinations(values: FlagValues): Promise<void> {
  const destinations = await connect(values).client.destinations.list();
  if (values['json'] === true) return console.log(JSON.stringify(destinations, null, 2));
  printTable(
    ['id', 'name', 'type', 'place', 'created'],
    destinations.map((one) => [
      one.id,
      printable(one.display_name),
      one.destination_type,
      placeOf(one),
      one.created_at.slice(0, 10),
    ]),
  );
}

const placeOf = ({ destination_type, config }: Destination): string => {
  const said = (name: string): string => (typeof config[name] === 'string' ? config[name] : '');
  if (destination_type === 'file') return printable(said('path'));
  const at = said('endpoint_url') === '' ? '' : ` at ${said('endpoint_url')}`;
  return printable(`s3://${[said('bucket_name'), said('prefix')].filter(Boolean).join('/')}${at}`);
};

export async function showDestination(named: string, values: FlagValues): Promise<void> {
  const { client } = connect(values);
  const found = await client.destinations.get(await destinationId(client, named));
  console.log(JSON.stringify(found, null, 2));
}

export async function testDestination(named: string, values: FlagValues): Promise<void> {
  const { client } = connect(values);
  const probe = await client.destinations.test(await destinationId(client, named));
  process.exitCode = probe.ok ? exitCodes.done : exitCodes.exportFailed;
  if (values['json'] === true) return console.log(JSON.stringify(probe, null, 2));
  for (const line of toLines(probe)) console.log(line);
}

const toLines = ({ ok, steps, notes }: Probe): string[] => [
  ...steps.map((step) => {
    const mark = step.ok ? 'ok' : step.required ? 'FAILED' : 'no';
    const reason = [step.code, step.message].filter((part) => part !== null).join(': ');
    return `${mark.padEnd(7)} ${step.name.padEnd(18)}${printable(reason)}`.trimEnd();
  }),
  ...notes.map(printable),
  ok ? 'Exports can be written there.' : 'Exports cannot be written there.',
];

export async function rotateDestination(named: string, values: FlagValues): Promise<void> {
  const body = await credentialsOf(values);
  if (Object.keys(body).length === 0)
    throw mistake('--credentials', undefined, 'Give env or -, or a role with --role-arn.');
  const { client } = connect(values);
  const changed = await client.destinations.rotate(await destinationId(client, named), body);
  if (values['json'] === true) return console.log(JSON.stringify(changed, null, 2));
  console.log(`Destination ${changed.id} has new credentials. Attempts that have started keep the old ones.`);
}

export async function deleteDestination(named: string, values: FlagValues): Promise<void> {
  const { client } = connect(values);
  const gone = await client.destinations.delete(await destinationId(client, named));
  if (values['json'] === true) return console.log(JSON.stringify(gone, null, 2));
  console.log(`Destination ${gone.id} is deleted. Its files remain.`);
}
