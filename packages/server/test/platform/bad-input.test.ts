// Every route of the platform with every kind of invalid input: each gets a status and a message, never a 5xx, and the server keeps
// serving. Invalid runs and spans are in bad-ingest.test.ts and bad-otlp.test.ts, more values of fields in bad-input.slow.test.ts. A route
// without a sample fails the test.
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { scaled } from '../speed.ts';
import {
  expectProblem,
  ofUnknown,
  routes,
  startSampledPlatform,
  uploads,
  withBody,
} from './sampled-platform.ts';
import { fixture } from '../fixture.ts';

const sampled = fixture(() => startSampledPlatform());
afterAll(() => sampled.platform[Symbol.asyncDispose]());

const call = (method: string, path: string, json?: unknown) =>
  sampled.platform.call(method, path, { json, headers: { 'x-tenant-id': sampled.platform.workspace_id } });

const deep = `${'['.repeat(600)}${']'.repeat(600)}`;

describe('a body', () => {
  it('has a valid sample for every route that takes one', () => {
    expect(Object.keys(sampled.samples()).toSorted()).toEqual(withBody.map(([name]) => name).toSorted());
  });

  it('that is valid is accepted by every route, so that the tests below change one thing only', async () => {
    for (const [name, route] of withBody) {
      const { status, text } = await sampled.send(
        route,
        sampled.pathOf(name, route),
        JSON.stringify(sampled.samples()[name]),
      );
      expect(ofUnknown.includes(name) ? [404] : [200], `${name}: ${text}`).toContain(status);
    }
  });

  it.each<[string, string | Uint8Array, number[]]>([
    ['that is not JSON', '{"a":', [400]],
    ['of invalid UTF-8', Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), [400]],
    ['nested too deep', `{"x":${deep}}`, [422]],
    ['with a key twice', '{"x":1,"x":2}', [422]],
    ['with a key __proto__', '{"__proto__":{"polluted":true}}', [422]],
    ['with NUL in a string', String.raw`{"x":"a\u0000b"}`, [422]],
    ['with a lone surrogate', String.raw`{"x":"\ud800"}`, [422]],
    ['with a number that would change', '{"x":9007199254740993}', [422]],
    ['with a number too large', '{"x":1e400}', [422]],
    ['over the limit', `{"x":"${'x'.repeat(250_000)}"}`, [413]],
    ['that is a string', '"hello"', [422]],
    ['that is a number', '42', [422]],
    ['that is null', 'null', [422]],
    ['that is a list', '[]', [422]],
  ])('%s is rejected by every route', async (_, body, statuses) => {
    for (const [name, route] of withBody)
      expectProblem(await sampled.send(route, sampled.pathOf(name, route), body), statuses, name);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    await sampled.expectServing();
  });

  it('with another or no content type is rejected by every route', async () => {
    for (const [name, route] of [...withBody, ...uploads]) {
      const body = JSON.stringify(sampled.samples()[name] ?? {});
      for (const type of ['text/plain', 'application/x-www-form-urlencoded'])
        expectProblem(
          await sampled.send(route, sampled.pathOf(name, route), body, type),
          [400, 415, 422],
          `${name} ${type}`,
        );
    }
    await sampled.expectServing();
  });
});

describe('an upload', () => {
  it.each<[string, string | Uint8Array]>([
    ['that is empty', ''],
    ['that is not JSON', '{"post":'],
    ['of invalid UTF-8', Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['nested too deep', `{"post":${deep},"patch":${deep},"id":${deep},"resourceSpans":${deep}}`],
    ['that is a string', '"hello"'],
    ['that is null', 'null'],
    ['that is a list', '[[]]'],
    ['whose fields have wrong types', '{"post":1,"patch":{},"id":[],"resourceSpans":"x"}'],
    ['over the limit', `{"x":"${'x'.repeat(250_000)}"}`],
  ])('%s is rejected by every route', async (what, body) => {
    for (const [name, route] of uploads) {
      for (const type of route.upload ?? []) {
        const sent = type.startsWith('multipart/') ? `${type}; boundary=b` : type;
        const answer = await sampled.send(route, sampled.pathOf(name, route), body, sent);
        // An OTLP request without spans is valid.
        if (what === 'that is empty' && name === 'ingestOtlp' && answer.status === 200) continue;
        expectProblem(answer, [400, 413, 422], `${name} ${type}`);
      }
    }
    await sampled.expectServing();
  });
});

describe('an id', () => {
  const bad = ['x', '%00', '..%2f..', 'a'.repeat(3_000), "'", '%F0%9F%92%A9', '00000000', '%ff', '%', '-1'];

  it(
    'that is invalid is rejected by every route',
    async () => {
      for (const [name, route] of routes) {
        for (const field of Object.keys(route.params?.shape ?? {})) {
          for (const id of bad) {
            const body = route.upload ? {} : sampled.samples()[name];
            const answer = await sampled.send(
              route,
              sampled.pathOf(name, route, { [field]: id }),
              body && JSON.stringify(body),
            );
            const what = `${name} ${field}=${id.slice(0, 20)}`;
            expect(answer.status, `${what}: ${answer.text.slice(0, 200)}`).toBeLessThan(500);
            // A thread's id may be any text: an unknown one has no runs.
            if (field === 'thread_id' && answer.status === 200) continue;
            expectProblem(answer, [400, 404, 414, 422], what);
          }
        }
      }
      await sampled.expectServing();
    },
    scaled(60_000),
  );

  it('of an unknown object returns 404 on every route that does not create it', async () => {
    for (const [name, route] of routes.filter(([, one]) => one.params && !one.upload)) {
      for (const field of Object.keys(route.params?.shape ?? {})) {
        // These lists are empty.
        if (field === 'thread_id' || name === 'listTraceRuns') continue;
        const id = randomUUID();
        const body = sampled.samples()[name];
        const answer = await sampled.send(
          route,
          sampled.pathOf(name, route, { [field]: id }),
          body && JSON.stringify(body),
        );
        expectProblem(answer, [404], `${name} ${field}`);
      }
    }
  });

  it('an unknown path returns 404, and an unknown method 405', async () => {
    expect((await call('GET', '/nothing')).body).toMatchObject({ code: 'not_found' });
    expect((await call('PUT', '/runs/query')).status).toBe(405);
  });
});

describe('a query', () => {
  it.each(['-1', '1.5', '1000000000', '0'])('with limit %s is rejected', async (limit) => {
    for (const path of ['/sessions', '/feedback', `/runs/threads/x?session_id=${sampled.session_id}`]) {
      const url = `${path}${path.includes('?') ? '&' : '?'}limit=${limit}`;
      expect((await call('GET', url)).status, url).toBe(422);
    }
    expect((await call('POST', '/runs/query', { limit: Number(limit) })).status).toBe(422);
  });

  it.each(['nonsense', 'eyJ9', Buffer.from('2026-11-21T00:00:00Z x').toString('base64url')])(
    'with an invalid cursor is rejected: %s',
    async (cursor) => {
      const answers = [
        await call('POST', '/runs/query', { cursor }),
        await call('POST', '/api/v2/threads/query', { project_id: sampled.session_id, cursor }),
        await call(
          'GET',
          `/runs/threads/x?session_id=${sampled.session_id}&cursor=${encodeURIComponent(cursor)}`,
        ),
      ];
      expect(answers.map(({ status }) => status)).toEqual([422, 422, 422]);
    },
  );
});

describe('a header', () => {
  it.each<[string, Record<string, string>, number[]]>([
    ['that names no workspace', { 'x-tenant-id': 'nonsense' }, [403, 422]],
    ['that names an unknown workspace', { 'x-tenant-id': randomUUID() }, [403]],
    ['with an unknown key', { 'x-api-key': 'nonsense' }, [401, 403, 429]],
    ['with a key of 5 KB', { 'x-api-key': 'x'.repeat(5_000) }, [401, 403, 429]],
    ['with an empty key', { 'x-api-key': '' }, [401, 403, 429]],
  ])('%s is rejected by every route', async (_, headers, statuses) => {
    for (const [name, route] of routes.filter(([, one]) => one.access !== 'public')) {
      const response = await fetch(sampled.platform.server.url + sampled.pathOf(name, route), {
        method: route.method.toUpperCase(),
        headers: { 'x-api-key': sampled.platform.key, ...headers },
      });
      const answer = { status: response.status, text: await response.text() };
      expectProblem(answer, statuses, name);
    }
  });
});
