// Writes the OpenAPI document of both APIs to openapi/openapi.json, for the published package and its lint.
import { mkdirSync, writeFileSync } from 'node:fs';
import { consoleRoutes, deploymentRoutes, openapiDocument, platformRoutes } from '../src/index.ts';

const folder = new URL('../openapi/', import.meta.url);
const document = openapiDocument({ ...deploymentRoutes, ...platformRoutes, ...consoleRoutes }, '0.1.0');
mkdirSync(folder, { recursive: true });
writeFileSync(new URL('openapi.json', folder), `${JSON.stringify(document, null, 2)}\n`);
