import { type BackupPlace, parsePlace } from '../backups/backup-place.ts';
import { UsageError } from './output/exit-code.ts';

/** The argument of `svc backup` and `svc restore`. Throws a usage error. */
export const placeOf = (given: string): BackupPlace => {
  const place = parsePlace(given, process.cwd());
  if (place !== undefined) return place;
  throw new UsageError([
    {
      where: '<place>',
      value: JSON.stringify(given),
      problem: 'is no URL of a prefix in a bucket',
      remedy: 'Name a bucket and a prefix: s3://bucket/backups/monday. A folder may begin with ./',
    },
  ]);
};
