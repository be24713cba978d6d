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
  responses: Record<string, Answer>;
}

interface Answer {
  description?: string;
  content?: Record<string, { schema: unknown }>;
}

const routes: Record<string, RouteShape> = { ...deploymentRoutes, ...platformRoutes, ...consoleRoutes };
const document = openapiDocument(routes, '0.1.0') as {
  paths: Record<string, Record<string, Operation>>;
  tags: { name: string; description?: string }[];
  components: { schemas: Record<string, { properties?: object; required?: string[] }> };
};
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
const responsesOf = (name: string): Record<string, Answer> =>
  operations.find(({ operationId }) => operationId === name)?.responses ?? {};

describe('the OpenAPI document', () => {
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

  it('names the responses that the server sends before it routes a request, and when it fails', () => {
    for (const { operationId, responses } of operations) {
      const statuses = ['400', '414', '431', '500', '503'];
      expect(Object.keys(responses), operationId).toEqual(expect.arrayContaining(statuses));
    }
    expect(Object.keys(responsesOf('createThread'))).toEqual(
      '200 400 401 403 409 413 414 415 422 429 431 500 503'.split(' '),
    );
  });

  it('lets generators of clients name the models of variants, and read files', () => {
    const variants = (
      document.components.schemas['ThreadCommandResponse'] as { anyOf: { properties: object }[] }
    ).anyOf;
    const meta = { $ref: '#/components/schemas/ThreadCommandMeta' };
    for (const { properties } of variants) expect(properties).toMatchObject({ meta });
    for (const name of ['getUiFile', 'openAttachmentLink'])
      expect(Object.keys(responsesOf(name)['200']?.content ?? {})[0]).toBe('application/octet-stream');
    // Of two constants, they accept the first only.
    expect(document.components.schemas['LayoutVersion']).toMatchObject({ enum: [1, 2] });
  });

  it('names successes without a body', () => {
    const empty = { patchThread: 204, cancelRun: 204, cancelRuns: 204, callMcp: 202, deleteThread: 204 };
    for (const [name, status] of Object.entries(empty)) {
      expect(responsesOf(name)[status]?.description, name).toBeTruthy();
      expect(responsesOf(name)[status]?.content, name).toBeUndefined();
    }
  });

  it('has objects with some of their fields where a request selects fields', () => {
    const selected = { $ref: '#/components/schemas/ThreadSelection' };
    expect(responsesOf('getThread')[200]?.content?.['application/json']?.schema).toEqual({
      anyOf: [{ $ref: '#/components/schemas/Thread' }, selected],
    });
    expect(responsesOf('createThread')[200]?.content?.['application/json']?.schema).toEqual({
      $ref: '#/components/schemas/Thread',
    });
    const { Thread, ThreadSelection } = document.components.schemas;
    expect(ThreadSelection).toMatchObject({ properties: Thread?.properties });
    expect(ThreadSelection?.required).toBeUndefined();
  });

  it('has configurations of assistants without required keys', () => {
    const { Config } = document.components.schemas;
    expect(Object.keys(Config?.properties ?? {})).toEqual(['tags', 'recursion_limit', 'configurable']);
    expect(Config?.required).toBeUndefined();
  });

  it('has examples that its schemas accept', () => {
    for (const { operationId, requestBody } of operations) {
      const example = requestBody?.content['application/json']?.example;
      if (example !== undefined)
        expect(routes[operationId]?.body?.safeParse(example).error, operationId).toBeUndefined();
    }
  });
});
