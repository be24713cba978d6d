// Generates the committed files that are derived from the source. For each of them, a test fails while it is outdated.

import { readFileSync, writeFileSync } from 'node:fs';
import { consoleRoutes, deploymentRoutes, platformRoutes } from '@svc/contract';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compatibilityPage } from '../test/compatibility/differences/page.ts';
import { llmsText } from '../test/documentation/llms-text.ts';
import { withSettingsTable } from './settings-table.ts';
import { svcJsonSchema } from '../src/config/project/svc-json-schema.ts';
import { openDatabase } from '../src/storage/postgres/database.ts';
import { openEmbedded } from '../src/storage/embedded/embedded.ts';
import { migrate } from '../src/storage/schema/migrate.ts';
import { schemaSnapshot } from './schema-snapshot.ts';
import { readFunctionFiles, readFunctionManifest } from '../src/storage/schema/sql-files.ts';

const at = (path: string): URL => new URL(`../../../${path}`, import.meta.url);

const rewrite = (path: string, change: (content: string) => string): void =>
  writeFileSync(at(path), change(readFileSync(at(path), 'utf8')));

writeFileSync(at('packages/server/svc.schema.json'), svcJsonSchema());
const routes = { ...deploymentRoutes, ...platformRoutes, ...consoleRoutes };
const endpoints = Object.entries(routes).map(
  ([name, { method, path }]) => `  ${name}: { method: '${method}', path: '${path}' },\n`,
);
writeFileSync(
  at('packages/contract/src/endpoints.ts'),
  `// Written by npm run generate: the method and path of every route, for clients that do not load the schemas.
export const endpoints = {\n${endpoints.join('')}} as const;\n`,
);
rewrite('docs/configuration.md', withSettingsTable);
writeFileSync(at('docs/compatibility.md'), compatibilityPage());
writeFileSync(at('docs/llms.txt'), llmsText(readFileSync(at('README.md'), 'utf8')));

const { checksum } = readFunctionFiles();
const functions = readFunctionManifest();
if (functions.checksum !== checksum) {
  const manifest = { revision: functions.revision + 1, checksum };
  writeFileSync(
    at('packages/server/src/storage/schema/functions/manifest.json'),
    `${JSON.stringify(manifest, null, 2)}\n`,
  );
}

const dataDir = await mkdtemp(join(tmpdir(), 'svc-generate-'));
{
  await using embedded = await openEmbedded({ dataDir });
  await using database = await openDatabase({ connection: embedded.connection });
  await migrate(database);
  writeFileSync(at('packages/server/src/storage/schema/schema.snapshot.sql'), await schemaSnapshot(database));
}
await rm(dataDir, { recursive: true, force: true });
