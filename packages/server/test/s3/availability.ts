// Whether tests that need an S3 are run. They write to the gateway of Ceph.
//   SVC_TEST_S3 unset      run where Ceph is installed, reported as not run elsewhere
//   SVC_TEST_S3=required   run, and fail where Ceph is not installed: for CI
//   SVC_TEST_S3=off        not run
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const needed = [
  'ceph',
  'ceph-authtool',
  'ceph-mon',
  'ceph-osd',
  'monmaptool',
  'radosgw',
  'radosgw-admin',
  'setpriv',
];

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

export const missingPrograms = (names: readonly string[] = needed): string[] => {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return names.filter((name) => !folders.some((folder) => isExecutable(join(folder, name))));
};

/** Why tests that need an S3 are not run; undefined when they are. */
export const whyNoS3 = (): string | undefined => {
  const setting = process.env['SVC_TEST_S3'] ?? '';
  if (!['', 'required', 'off'].includes(setting))
    throw new Error(`SVC_TEST_S3 is ${JSON.stringify(setting)}; it may be "required" or "off"`);
  if (setting === 'off') return 'SVC_TEST_S3=off';
  return setting === '' && missingPrograms().length > 0
    ? 'Ceph is not installed; on Debian and Ubuntu: scripts/install-test-programs.sh s3'
    : undefined;
};
