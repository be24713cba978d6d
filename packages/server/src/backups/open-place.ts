// Opens the place of a backup. The S3 client is loaded for buckets only.
import { readAwsVariables } from '../config/aws-variables.ts';
import type { BackupSource, BackupTarget } from '../storage/backup/places.ts';
import { FolderSource, FolderTarget } from '../storage/backup/folder-place.ts';
import { type BackupPlace, formatPlace } from './backup-place.ts';

export interface PlaceOptions {
  /** With the variables of AWS. */
  env: Readonly<Record<string, string>>;
  signal: AbortSignal;
}

export const withTarget = async <T>(
  place: BackupPlace,
  { env, signal }: PlaceOptions,
  work: (target: BackupTarget) => Promise<T>,
): Promise<T> => {
  if (place.kind === 'folder') return work(new FolderTarget(place.path));
  const { openBucket } = await import('./open-bucket.ts');
  const { BucketTarget } = await import('./bucket-place.ts');
  await using bucket = openBucket(place, readAwsVariables(env));
  return await work(new BucketTarget(formatPlace(place), bucket, signal));
};

export const withSource = async <T>(
  place: BackupPlace,
  { env, signal }: PlaceOptions,
  work: (source: BackupSource) => Promise<T>,
): Promise<T> => {
  if (place.kind === 'folder') return work(new FolderSource(place.path));
  const { openBucket } = await import('./open-bucket.ts');
  const { BucketSource } = await import('./bucket-place.ts');
  await using bucket = openBucket(place, readAwsVariables(env));
  return await work(new BucketSource(formatPlace(place), bucket, signal));
};
