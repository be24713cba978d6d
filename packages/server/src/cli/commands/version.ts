import { readFileSync } from 'node:fs';
import { packageFile } from '../../package-files.ts';

/** The version of this package. */
export function productVersion(): string {
  const file = packageFile('package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
