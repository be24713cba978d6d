import { readFileSync } from 'node:fs';

/** The version of this package. The path is the same in src/cli and dist/cli. */
export function productVersion(): string {
  const file = new URL('../../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
