// Where a bucket is and how it is addressed, worked out from what was given.
import type { S3Config } from '@svc/contract';

export interface S3Place {
  bucket: string;
  /** Empty, or ends with `/`. */
  prefix: string;
  /** Undefined: that of AWS in the region. */
  endpoint: URL | undefined;
  /** The endpoint is that of the bucket: its name is in no path and before no host. */
  isBucketEndpoint: boolean;
  isPathStyle: boolean;
  isAws: boolean;
  region: string;
  /** `bucket/prefix`. */
  root: string;
  /** What was found out rather than said. */
  notes: string[];
}

const usualRegion = 'us-east-1';
const awsHost = /\.(amazonaws\.com|amazonaws\.com\.cn|api\.aws)$/;
const regionOfHost = /(?:^|\.)s3[.-]((?:[a-z]{2,4}-)+[a-z]+-\d)\.amazonaws\.com/;

/** Without slashes at its ends: what keys begin with, wherever they are made or told of. */
export const trimPrefix = (prefix: string): string => prefix.replaceAll(/^\/+|\/+$/g, '');

export const s3Place = (config: S3Config): S3Place => {
  const { bucket_name: bucket, endpoint_url, config_kwargs_s3: options = {} } = config;
  const endpoint = endpoint_url === undefined ? undefined : new URL(endpoint_url);
  const host = endpoint?.hostname ?? '';
  const hostNamesBucket = host.startsWith(`${bucket}.`);
  const prefix = trimPrefix(config.prefix ?? '');
  const notes: string[] = [];
  if (config.include_bucket_in_prefix === undefined && hostNamesBucket)
    notes.push('The host of endpoint_url names the bucket: include_bucket_in_prefix is taken as false.');
  if (config.include_bucket_in_prefix === true && hostNamesBucket)
    notes.push(
      'The host of endpoint_url names the bucket: include_bucket_in_prefix should probably be false.',
    );
  const found = regionOfHost.exec(host)?.[1];
  if (config.region === undefined && endpoint === undefined)
    notes.push(`No region was given: ${usualRegion} is taken.`);
  return {
    bucket,
    prefix: prefix === '' ? '' : `${prefix}/`,
    endpoint,
    isBucketEndpoint: !(config.include_bucket_in_prefix ?? !hostNamesBucket),
    isPathStyle:
      options.addressing_style === 'path' ||
      (endpoint !== undefined && options.addressing_style !== 'virtual'),
    isAws: endpoint === undefined || awsHost.test(host),
    region: config.region ?? found ?? usualRegion,
    root: prefix === '' ? bucket : `${bucket}/${prefix}`,
    notes,
  };
};
