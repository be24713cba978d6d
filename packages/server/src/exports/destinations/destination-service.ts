// Creates, changes and deletes the destinations of a workspace. Creating a destination and changing its credentials tests first whether
// a file can be written.
import { randomUUID } from 'node:crypto';
import type {
  Destination,
  DestinationCreate,
  destinationRoutes,
  FileConfig,
  Probe,
  S3Config,
  S3Credentials,
} from '@svc/contract';
import { invalid, notFound, Problem } from '@svc/contract/problem';
import type {
  DestinationRow,
  DestinationStorage,
  NewAccess,
} from '../../storage/exports/export-destinations.ts';
import type { CredentialVault } from './credential-vault.ts';
import { DestinationError } from '../../s3/destination-error.ts';
import { openStore, type StoreParts } from './open-store.ts';
import { probe, type Probed, probeFailure, probeMs } from './probe.ts';
import { bucketAddress } from '../../s3/bucket-address.ts';
import type { S3Target, StoreTarget } from './store-target.ts';
import type { Handlers } from '../../api/handlers.ts';
import { tenantOf } from '../../auth/principal/caller.ts';
import { type EgressGuard, EgressRefused } from '../../net/guard.ts';
import { findFolder } from './folder-store.ts';
import { egressRules } from '../../s3/s3-limits.ts';

export interface DestinationParts {
  destinations: DestinationStorage;
  vault: CredentialVault;
  stores: StoreParts;
}

/** New credentials of a destination: exactly one of the two. */
export interface NewCredentials {
  credentials?: S3Credentials | undefined;
  aws_role_arn?: string | undefined;
}

/** Maximum number of concurrent probes. Each may hold connections for half a minute. */
const probesMax = 16;
/** Maximum per workspace, so that unresponsive destinations of one workspace do not block the probes of others. */
const probesPerWorkspace = 4;

export class DestinationService {
  readonly #destinations: DestinationStorage;
  readonly #vault: CredentialVault;
  readonly #stores: StoreParts;
  /** The workspace of each running probe. */
  readonly #probes: string[] = [];

  constructor({ destinations, vault, stores }: DestinationParts) {
    this.#destinations = destinations;
    this.#vault = vault;
    this.#stores = stores;
  }

  async list(tenant_id: string): Promise<Destination[]> {
    return (await this.#destinations.list(tenant_id)).map(toDestination);
  }

  async get(tenant_id: string, id: string): Promise<Destination> {
    return toDestination(await this.#row(tenant_id, id));
  }

  /** Throws bad_request when no file can be written to the destination. */
  async create(tenant_id: string, given: DestinationCreate): Promise<Destination> {
    checkDestination(given, this.#stores);
    const target = toTarget({ tenant_id, id: randomUUID() }, given);
    const { abilities } = await this.#assertWritable(target);
    const row = await this.#destinations.create({
      tenant_id,
      id: target.id,
      destination_type: target.destination_type,
      display_name: given.display_name,
      config: JSON.stringify(target.config),
      ...(await this.#seal(target, abilities)),
    });
    if (row === undefined)
      throw new Problem('conflict', 'The workspace has reached its maximum number of destinations');
    return toDestination(row);
  }

  /** Changes nothing and throws bad_request when no file can be written with the new credentials. */
  async change(tenant_id: string, id: string, given: NewCredentials): Promise<Destination> {
    const { credentials, aws_role_arn } = given;
    if ((credentials === undefined) === (aws_role_arn === undefined))
      throw invalid(['body'], 'must have one of credentials and aws_role_arn');
    const target = await this.target(tenant_id, id);
    if (target.destination_type !== 's3')
      throw invalid(['body'], 'must not be given for a destination of the type file');
    if (credentials === undefined) checkAmbientCredentials(aws_role_arn, this.#stores);
    const changed = { ...target, credentials: credentials ?? null, aws_role_arn: aws_role_arn ?? null };
    const { abilities } = await this.#assertWritable(changed);
    const row = await this.#destinations.change(tenant_id, id, await this.#seal(changed, abilities));
    if (row === undefined) throw notFound('Destination', id);
    return toDestination(row);
  }

  async delete(tenant_id: string, id: string): Promise<Destination> {
    const row = await this.#destinations.delete(tenant_id, id);
    if (row === undefined) throw notFound('Destination', id);
    if (row === 'in use') throw new Problem('conflict', 'The destination is used by exports');
    return toDestination(row);
  }

  /** Probes the destination. Later exports use the abilities that it finds. */
  async test(tenant_id: string, id: string): Promise<Probe> {
    const row = await this.#row(tenant_id, id);
    const { abilities, ...result } = await this.#probe(await this.#open(row));
    if (result.ok) await this.#destinations.learn(row, { ...abilities });
    return result;
  }

  /** Probes the destination like `test`, and changes nothing in the database. `limitMs`: time limit of the probe. */
  async check(tenant_id: string, id: string, limitMs: number): Promise<Probe> {
    return this.#probe(await this.target(tenant_id, id), limitMs);
  }

  /** Returns the destination with its decrypted secrets, to open a store. Throws not_found. */
  async target(tenant_id: string, id: string): Promise<StoreTarget> {
    return this.#open(await this.#row(tenant_id, id));
  }

  async #row(tenant_id: string, id: string): Promise<DestinationRow> {
    const row = await this.#destinations.find(tenant_id, id);
    if (row === undefined) throw notFound('Destination', id);
    return row;
  }

  async #open(row: DestinationRow): Promise<StoreTarget> {
    const { tenant_id, id, abilities, aws_role_arn } = row;
    if (row.destination_type === 'file')
      return { destination_type: 'file', tenant_id, id, config: JSON.parse(row.config) as FileConfig };
    const credentials = row.credentials === null ? null : await this.#vault.open(row.credentials, row);
    const config = JSON.parse(row.config) as S3Config;
    return { destination_type: 's3', tenant_id, id, config, credentials, aws_role_arn, abilities };
  }

  async #seal(target: StoreTarget, abilities: Probed['abilities']): Promise<NewAccess> {
    const none = { credentials: null, credentials_keys: [], aws_role_arn: null, abilities: { ...abilities } };
    if (target.destination_type === 'file') return none;
    const { credentials, aws_role_arn } = target;
    if (credentials === null) return { ...none, aws_role_arn };
    const given = Object.entries(credentials).filter(([, value]) => value !== undefined);
    return {
      ...none,
      credentials: await this.#vault.seal(credentials, target),
      credentials_keys: given.map(([name]) => name),
    };
  }

  async #assertWritable(target: StoreTarget): Promise<Probed> {
    const probed = await this.#probe(target);
    if (probed.ok) return probed;
    const { code, message } = probeFailure(probed);
    const kind = target.destination_type === 's3' ? 'S3' : 'file';
    const sentence = [`Failed to validate ${kind} destination: ${code}: ${message}`, ...probed.notes].join(
      ' ',
    );
    throw new Problem('bad_request', sentence);
  }

  async #probe(target: StoreTarget, limitMs = probeMs): Promise<Probed> {
    const { tenant_id } = target;
    const own = this.#probes.filter((each) => each === tenant_id).length;
    if (own >= probesPerWorkspace || this.#probes.length >= probesMax)
      throw new Problem('rate_limited', 'Too many destinations are being tested; try again later');
    this.#probes.push(tenant_id);
    try {
      await using store = await openStore(target, this.#stores);
      const notes = target.destination_type === 's3' ? bucketAddress(target.config).notes : [];
      return await probe(store, { signal: new AbortController().signal, notes, limitMs });
    } catch (error) {
      if (!(error instanceof DestinationError)) throw error;
      const { code, message } = error;
      const abilities = { can_head: false, can_delete: false, can_put_if_none_match: false };
      return {
        ok: false,
        steps: [{ name: 'address', ok: false, required: true, code, message }],
        notes: [],
        abilities,
      };
    } finally {
      this.#probes.splice(this.#probes.indexOf(tenant_id), 1);
    }
  }
}

const toTarget = (owner: { tenant_id: string; id: string }, given: DestinationCreate): StoreTarget => {
  if (given.destination_type === 'file') return { destination_type: 'file', ...owner, config: given.config };
  const { aws_role_arn: role_arn, ...config } = given.config;
  const target: S3Target = {
    destination_type: 's3',
    ...owner,
    config: { ...config, aws_role_arn: undefined },
    credentials: given.credentials ?? null,
    aws_role_arn: given.aws_role_arn ?? role_arn ?? null,
    abilities: {},
  };
  return target;
};

const toDestination = (row: DestinationRow): Destination => ({
  id: row.id,
  tenant_id: row.tenant_id,
  destination_type: row.destination_type,
  display_name: row.display_name,
  config: {
    ...(JSON.parse(row.config) as Record<string, unknown>),
    ...(row.aws_role_arn === null ? {} : { aws_role_arn: row.aws_role_arn }),
  },
  credentials_keys: row.credentials_keys,
  created_at: row.created_at,
  updated_at: row.updated_at,
});

export const destinationHandlers = (
  destinations: DestinationService,
): Handlers<typeof destinationRoutes> => ({
  createDestination: ({ body }, call) => destinations.create(tenantOf(call), body),

  listDestinations: (_, call) => destinations.list(tenantOf(call)),

  getDestination: ({ params }, call) => destinations.get(tenantOf(call), params.destination_id),

  changeDestination: ({ params, body }, call) =>
    destinations.change(tenantOf(call), params.destination_id, body),

  deleteDestination: ({ params }, call) => destinations.delete(tenantOf(call), params.destination_id),

  testDestination: ({ params }, call) => destinations.test(tenantOf(call), params.destination_id),
});

// Validation of destinations that the schema cannot express: fields that depend on each other, and limits that the server sets.

interface ConfigRules {
  guard: EgressGuard;
  fileRoots: readonly string[];
  lendsCredentials: boolean;
}

/** Throws `invalid` with the path of the invalid field. */
const checkDestination = (given: DestinationCreate, rules: ConfigRules): void => {
  if (given.destination_type === 'file') {
    if (findFolder(given.config.path, rules.fileRoots) === undefined)
      throw invalid(['body', 'config', 'path'], 'must be below one of the folders in SVC_EXPORT_FILE_ROOTS');
    return;
  }
  checkEndpoint(given.config, rules.guard);
  checkOptions(given.config);
  const { credentials, aws_role_arn, config } = given;
  if (aws_role_arn !== undefined && config.aws_role_arn !== undefined && aws_role_arn !== config.aws_role_arn)
    throw invalid(['body', 'aws_role_arn'], 'must equal config.aws_role_arn when both are given');
  const role_arn = aws_role_arn ?? config.aws_role_arn;
  if (credentials !== undefined && role_arn !== undefined)
    throw invalid(['body', 'aws_role_arn'], 'must not be given together with credentials');
  if (credentials === undefined) checkAmbientCredentials(role_arn, rules);
};

/** Throws `invalid` unless destinations may use the server's own credentials. */
const checkAmbientCredentials = (role_arn: string | undefined, { lendsCredentials }: ConfigRules): void => {
  if (lendsCredentials) return;
  const rule = "destinations may not use the server's own credentials (SVC_EXPORT_AMBIENT_CREDENTIALS)";
  if (role_arn === undefined) throw invalid(['body', 'credentials'], `must be given: ${rule}`, 'missing');
  throw invalid(['body', 'aws_role_arn'], `cannot be assumed: ${rule}`);
};

const checkEndpoint = ({ endpoint_url, include_bucket_in_prefix }: S3Config, guard: EgressGuard): void => {
  if (endpoint_url === undefined) {
    if (include_bucket_in_prefix === false)
      throw invalid(
        ['body', 'config', 'include_bucket_in_prefix'],
        'must not be false without an endpoint_url that names the bucket',
      );
    return;
  }
  const loc = ['body', 'config', 'endpoint_url'];
  try {
    const { url } = guard.check(endpoint_url, egressRules);
    if (url.search !== '' || endpoint_url.includes('#'))
      throw invalid(loc, 'endpoint_url must not have a query or a fragment');
  } catch (error) {
    if (error instanceof EgressRefused) throw invalid(loc, `endpoint_url ${error.message}`);
    throw error;
  }
};

const checkOptions = ({ endpoint_url, config_kwargs_s3: options = {} }: S3Config): void => {
  const isAccelerated = options.use_accelerate_endpoint === true;
  if (isAccelerated && (endpoint_url !== undefined || options.addressing_style === 'path'))
    throw invalid(
      ['body', 'config', 'config_kwargs_s3', 'use_accelerate_endpoint'],
      'must not be true with an endpoint_url or with addressing_style path',
    );
};
