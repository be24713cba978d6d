import { expect, it } from 'vitest';
import { formatPlace, parsePlace } from './backup-place.ts';

it.each([
  ['s3://backups/svc/monday', 'backups', 'svc/monday'],
  ['s3://backups/monday/', 'backups', 'monday'],
  ['s3://backups', 'backups', ''],
  ['S3://backups/ä b', 'backups', 'ä b'],
])('%s is a prefix in a bucket', (text, bucket, prefix) => {
  const place = parsePlace(text, '/home/me');
  expect(place).toEqual({ kind: 'bucket', bucket, prefix });
  expect(place && parsePlace(formatPlace(place), '/')).toEqual(place);
});

it.each(['s3://', 's3:///monday', 's3://backups//monday', 's3://backups/../monday', 's3://backups/a\nb'])(
  '%j is refused',
  (text) => expect(parsePlace(text, '/')).toBeUndefined(),
);

it.each([
  ['monday', '/home/me/monday'],
  ['/var/backups', '/var/backups'],
  ['./s3://backups', '/home/me/s3:/backups'],
])('%s is a folder', (text, path) => expect(parsePlace(text, '/home/me')).toEqual({ kind: 'folder', path }));
