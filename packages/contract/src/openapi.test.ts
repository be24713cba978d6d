import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { deploymentRoutes, openapiDocument, platformRoutes, type Routes } from './index.ts';

const apis: [name: string, routes: Routes][] = [
  ['deployment', deploymentRoutes],
  ['platform', platformRoutes],
];

describe.each(apis)('the OpenAPI document of the %s API', (name, routes) => {
  it('is the committed one (npm run generate writes it)', () => {
    const committed = new URL(`../openapi/${name}.json`, import.meta.url);
    const document = openapiDocument(routes, '0.1.0', `svc ${name} API`);
    expect(`${JSON.stringify(document, null, 2)}\n`).toBe(readFileSync(committed, 'utf8'));
  });

  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    const result = await validator.validate(structuredClone(openapiDocument(routes, '0.1.0')));
    expect(result).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  it('has every route, with its path parameters', () => {
    const { paths } = openapiDocument(routes, '0.1.0') as {
      paths: Record<string, Record<string, { parameters?: { name: string; in: string }[] }>>;
    };
    for (const route of Object.values(routes)) {
      const operation = paths[route.path.replaceAll(/:(\w+)/g, '{$1}')]?.[route.method];
      const named = (operation?.parameters ?? []).filter((one) => one.in === 'path').map((one) => one.name);
      expect(named, route.path).toEqual([...route.path.matchAll(/:(\w+)/g)].map((match) => match[1]));
    }
  });
});
