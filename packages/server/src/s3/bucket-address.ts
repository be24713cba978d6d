// Derives endpoint, region and addressing of a bucket from the configuration of the destination.
import type { S3Config } from '@svc/contract';

const defaultRegion = 'us-east-1';
const awsHost = /\.(amazonaws\.com|amazonaws\.com\.cn|api\.aws)$/;
const regionOfHost = /(?:^|\.)s3[.-]((?:[a-z]{2,4}-)+[a-z]+-\d)\.amazonaws\.com/;

/** Removes slashes at both ends. All code that builds or shows keys uses this form. */
export const trimPrefix = (prefix: string): string => prefix.replaceAll(/^\/+|\/+$/g, '');

export const bucketAddress = (config: S3Config) => {
  const { bucket_name: bucket, endpoint_url, config_kwargs_s3: options = {} } = config;
  const endpoint = endpoint_url === undefined ? undefined : new URL(endpoint_url);
  const host = endpoint?.hostname ?? '';
  const hostNamesBucket = host.startsWith(`${bucket}.`);
  const prefix = trimPrefix(config.prefix ?? '');
  const notes: string[] = [];
  if (config.include_bucket_in_prefix === undefined && hostNamesBucket)
    notes.push('The host of endpoint_url contains the bucket; include_bucket_in_prefix false is used.');
  if (config.include_bucket_in_prefix === true && hostNamesBucket)
    notes.push(
      'The host of endpoint_url contains the bucket; include_bucket_in_prefix should probably be false.',
    );
  const found = regionOfHost.exec(host)?.[1];
  if (config.region === undefined && endpoint === undefined)
    notes.push(`No region was given; ${defaultRegion} is used.`);
  return {
    bucket,
    /** Empty, or ends with `/`. */
    prefix: prefix === '' ? '' : `${prefix}/`,
    /** Undefined for the endpoint of AWS in the region. */
    endpoint,
    /** True when the endpoint already names the bucket, so the client must add it neither to the host nor to the path. */
    isBucketEndpoint: !(config.include_bucket_in_prefix ?? !hostNamesBucket),
    isPathStyle:
      options.addressing_style === 'path' ||
      (endpoint !== undefined && options.addressing_style !== 'virtual'),
    isAws: endpoint === undefined || awsHost.test(host),
    region: config.region ?? found ?? defaultRegion,
    /** `bucket/prefix`. */
    root: prefix === '' ? bucket : `${bucket}/${prefix}`,
    /** Assumptions for values that were not configured. They are shown with the result of the probe. */
    notes,
  };
};

export type BucketAddress = ReturnType<typeof bucketAddress>;
