import { readFileSync } from 'node:fs';

/** The version of this package; the path is the same from src/cli and from dist/cli. */
export function productVersion(): string {
  const file = new URL('../../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
