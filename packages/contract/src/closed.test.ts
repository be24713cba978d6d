import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { consoleRoutes, deploymentRoutes, platformRoutes, type RouteShape } from './index.ts';

const routes = Object.entries<RouteShape>({ ...deploymentRoutes, ...platformRoutes, ...consoleRoutes });

/** Those of the branches of a union too. */
const unknownKeysOf = (issue: z.core.$ZodIssue): string[] => {
  if (issue.code === 'invalid_union') return issue.errors.flat().flatMap(unknownKeysOf);
  return issue.code === 'unrecognized_keys' ? issue.keys : [];
};

/** The unknown keys that a schema names when it gets an object, and an array of objects, with this key. */
const unknownKeysIn = (schema: z.ZodType | undefined, key: string): string[] =>
  [{ [key]: 'x' }, [{ [key]: 'x' }]].flatMap((value) =>
    (schema?.safeParse(value).error?.issues ?? []).flatMap(unknownKeysOf),
  );

describe('requests', () => {
  // The handler of a JSON-RPC route reads the message, because errors are JSON-RPC responses.
  const isClosed = ({ body, kind }: RouteShape): boolean => body !== undefined && kind !== 'rpc';
  it.each(routes.filter(([, route]) => isClosed(route)))(
    '%s: the body has no unknown keys',
    (_, { body }) => {
      expect(unknownKeysIn(body, 'no_such_key')).toContain('no_such_key');
    },
  );

  // Providers add parameters of their own to their redirects.
  const composedElsewhere = new Set(['finishOidc']);
  it.each(routes.filter(([name, { upload }]) => !upload && !composedElsewhere.has(name)))(
    '%s: the query has no unknown keys',
    (_, { query }) => {
      expect(unknownKeysIn(query, 'no_such_key')).toContain('no_such_key');
    },
  );

  it.each(routes.filter(([, { ignored }]) => ignored))(
    '%s: the keys that it ignores are accepted',
    (_, { body, query, ignored }) => {
      for (const key of Object.keys(ignored?.body ?? {})) expect(unknownKeysIn(body, key)).toEqual([]);
      for (const key of Object.keys(ignored?.query ?? {})) expect(unknownKeysIn(query, key)).toEqual([]);
    },
  );

  it.each(routes.filter(([, { unsupported }]) => unsupported))(
    '%s: the filters that it does not have are accepted only when they are empty',
    (_, { body, query, unsupported }) => {
      const pathsOf = (schema: z.ZodType | undefined, value: object): PropertyKey[] =>
        (schema?.safeParse(value).error?.issues ?? [])
          .filter(({ message }) => message.startsWith('is not supported: '))
          .flatMap(({ path }) => path);
      const both = [
        [body, unsupported?.body],
        [query, unsupported?.query],
      ] as const;
      for (const [schema, keys] of both)
        for (const key of Object.keys(keys ?? {})) {
          expect(pathsOf(schema, { [key]: 'x' })).toEqual([key]);
          for (const empty of [null, '', [], {}]) expect(pathsOf(schema, { [key]: empty })).toEqual([]);
        }
    },
  );
});
