// Validation of destinations that the schema cannot express: fields that depend on each other, and limits that the server sets.
import type { DestinationCreate, S3Config } from '@svc/contract';
import { invalid } from '@svc/contract/problem';
import { EgressRefused, type EgressGuard } from '../../net/guard.ts';
import { findFolder } from './folder-store.ts';
import { egressRules } from '../../s3/egress-rules.ts';

export interface ConfigRules {
  guard: EgressGuard;
  fileRoots: readonly string[];
  lendsCredentials: boolean;
}

/** Throws `invalid` with the path of the invalid field. */
export const checkDestination = (given: DestinationCreate, rules: ConfigRules): void => {
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
export const checkAmbientCredentials = (
  role_arn: string | undefined,
  { lendsCredentials }: ConfigRules,
): void => {
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
