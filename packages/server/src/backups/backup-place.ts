// Where a backup is: a folder, or a prefix of a bucket.
import { resolve } from 'node:path';

export interface FolderPlace {
  kind: 'folder';
  path: string;
}

export interface BucketPlace {
  kind: 'bucket';
  bucket: string;
  /** Without slashes at its ends; may be empty. */
  prefix: string;
}

export type BackupPlace = FolderPlace | BucketPlace;

const scheme = 's3://';

/** Undefined for a URL of a bucket that is malformed. Everything else is the path of a folder. */
export const parsePlace = (text: string, cwd: string): BackupPlace | undefined => {
  if (!text.toLowerCase().startsWith(scheme)) return { kind: 'folder', path: resolve(cwd, text) };
  const [bucket = '', ...parts] = text.slice(scheme.length).replace(/\/+$/, '').split('/');
  if (bucket === '' || !parts.every(isPart)) return undefined;
  return { kind: 'bucket', bucket, prefix: parts.join('/') };
};

const isPart = (part: string): boolean =>
  part !== '' && part !== '.' && part !== '..' && !/\p{Cc}/u.test(part);

/** As it was given: the path of the folder or the URL of the prefix. */
export const formatPlace = (place: BackupPlace): string => {
  if (place.kind === 'folder') return place.path;
  return place.prefix === '' ? scheme + place.bucket : `${scheme}${place.bucket}/${place.prefix}`;
};
