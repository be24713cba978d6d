import * as z from 'zod';
import { describe, expect, it } from 'vitest';
import { PathMethods } from './path-methods.ts';

const params = z.object({ id: z.uuid() });
const named = z.object({ name: z.string() });
const methods = new PathMethods([
  { method: 'get', path: '/things/:id', params },
  { method: 'delete', path: '/things/:id', params },
  { method: 'post', path: '/things/search' },
  { method: 'get', path: '/things/:id/events', params, kind: 'sse' },
  { method: 'get', path: '/use/:name', params: named, changes: 'always' },
  { method: 'get', path: '/names/:name', params: named, aliases: ['/alias/:name'] },
  { method: 'post', path: '/names/search' },
]);

describe('the methods of a path', () => {
  it.each([
    ['/things/0195d2c4-8f2b-7c31-9f0e-1a2b3c4d5e6f', 'GET, HEAD, DELETE, OPTIONS'],
    ['/things/no-id', 'GET, HEAD, DELETE, OPTIONS'],
    ['/things/search', 'POST, OPTIONS'],
    ['/things/0195d2c4-8f2b-7c31-9f0e-1a2b3c4d5e6f/events', 'GET, OPTIONS'],
    ['/use/x', 'GET, OPTIONS'],
    ['/names/search', 'GET, HEAD, POST, OPTIONS'],
    ['/alias/x', 'GET, HEAD, OPTIONS'],
    ['/nothing', ''],
  ])('%s are %s', (path, allow) => {
    expect(methods.allow(path)).toBe(allow);
  });
});

it('a path is reserved when it only looks like one with a parameter', () => {
  const paths = ['/things/search', '/names/search', '/things/:id', '/things/:id/events'];
  expect(paths.filter((path) => methods.isReserved(path))).toEqual(['/things/search']);
});
