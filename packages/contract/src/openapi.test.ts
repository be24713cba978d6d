import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import {
  consoleRoutes,
  deploymentRoutes,
  openapiDocument,
  platformRoutes,
  type RouteShape,
} from './index.ts';

interface Parameter {
  name: string;
  in: string;
  description?: string;
}

interface Operation {
  operationId: string;
  description?: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { example?: unknown }> };
}

const routes: Record<string, RouteShape> = { ...deploymentRoutes, ...platformRoutes, ...consoleRoutes };
const document = openapiDocument(routes, '0.1.0') as {
  paths: Record<string, Record<string, Operation>>;
  tags: { name: string; description?: string }[];
};
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));

describe('the OpenAPI document', () => {
  it('is the committed one (npm run generate writes it)', () => {
    const committed = new URL('../openapi/openapi.json', import.meta.url);
    expect(`${JSON.stringify(document, null, 2)}\n`).toBe(readFileSync(committed, 'utf8'));
  });

  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    expect(await validator.validate(structuredClone(document))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  it('has every route of both APIs, with its path parameters', () => {
    expect(operations.map(({ operationId }) => operationId).toSorted()).toEqual(
      Object.keys(routes).toSorted(),
    );
    for (const route of Object.values(routes)) {
      const operation = document.paths[route.path.replaceAll(/:(\w+)/g, '{$1}')]?.[route.method];
      const named = (operation?.parameters ?? []).filter((one) => one.in === 'path').map((one) => one.name);
      expect(named, route.path).toEqual([...route.path.matchAll(/:(\w+)/g)].map((match) => match[1]));
    }
  });

  it('describes every operation, parameter and tag, and has an example of every JSON body', () => {
    expect(document.tags.filter(({ description }) => !description)).toEqual([]);
    for (const { operationId, description, parameters = [], requestBody } of operations) {
      expect(description, operationId).toMatch(/\.$/);
      for (const { name, description: text } of parameters)
        expect(text, `${operationId} ${name}`).toBeTruthy();
      if (routes[operationId]?.body)
        expect(requestBody?.content['application/json']?.example, operationId).toBeDefined();
    }
  });

  it('has examples that its schemas accept', () => {
    for (const { operationId, requestBody } of operations) {
      const example = requestBody?.content['application/json']?.example;
      if (example !== undefined)
        expect(routes[operationId]?.body?.safeParse(example).error, operationId).toBeUndefined();
    }
  });
});
