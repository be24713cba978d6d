// Writes every committed file that follows from the source; for each, a test fails while it is stale.

import { readFileSync, writeFileSync } from 'node:fs';
import { withSettingsTable } from '../src/config/settings-table.ts';
import { svcJsonSchema } from '../src/config/svc-json-schema.ts';

const at = (path: string): URL => new URL(`../../../${path}`, import.meta.url);

const rewrite = (path: string, change: (content: string) => string): void =>
  writeFileSync(at(path), change(readFileSync(at(path), 'utf8')));

writeFileSync(at('packages/server/svc.schema.json'), svcJsonSchema());
rewrite('docs/configuration.md', withSettingsTable);
