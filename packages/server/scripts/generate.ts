// Writes every committed file that follows from the source; for each, a test fails while it is stale.

import { readFileSync, writeFileSync } from 'node:fs';
import { deploymentRoutes, openapiDocument } from '@svc/contract';
import { withSettingsTable } from '../src/config/settings-table.ts';
import { svcJsonSchema } from '../src/config/svc-json-schema.ts';

const at = (path: string): URL => new URL(`../../../${path}`, import.meta.url);

const rewrite = (path: string, change: (content: string) => string): void =>
  writeFileSync(at(path), change(readFileSync(at(path), 'utf8')));

writeFileSync(at('packages/server/svc.schema.json'), svcJsonSchema());
writeFileSync(
  at('packages/contract/openapi/deployment.json'),
  `${JSON.stringify(openapiDocument(deploymentRoutes, '0.1.0'), null, 2)}\n`,
);
rewrite('docs/configuration.md', withSettingsTable);
