// Every time in a request, of both APIs, follows one rule: ISO 8601, UTC without a zone, in the years 1 to 9999 UTC.
import { randomUUID } from 'node:crypto';
import { deploymentRoutes, platformRoutes, When } from '@svc/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { startPlatform, type PlatformServer } from './platform/platform-server.ts';

let platform: PlatformServer;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform[Symbol.asyncDispose]());

interface Def {
  format?: string;
  innerType?: z.ZodType;
  in?: z.ZodType;
}

const isTime = (schema: z.ZodType): boolean => {
  const { format, innerType, in: input } = schema.def as Def;
  const inner = innerType ?? input;
  return format === 'datetime' || (inner !== undefined && isTime(inner));
};

const timeKeys = (schema: unknown): string[] => {
  const shape = (schema as z.ZodObject | undefined)?.shape as Record<string, z.ZodType> | undefined;
  return Object.entries(shape ?? {}).flatMap(([key, value]) => (isTime(value) ? [key] : []));
};

interface Field {
  name: string;
  method: string;
  path: string;
  where: 'body' | 'query';
  key: string;
}

interface AnyRoute {
  method: string;
  path: string;
  body?: z.ZodType;
  query?: z.ZodType;
}

const fieldsOf = (routes: Record<string, AnyRoute>): Field[] =>
  Object.entries(routes).flatMap(([name, { method, path, body, query }]) => [
    ...timeKeys(body).map((key): Field => ({ name, method, path, where: 'body', key })),
    ...timeKeys(query).map((key): Field => ({ name, method, path, where: 'query', key })),
  ]);

const fields = [...fieldsOf(platformRoutes), ...fieldsOf(deploymentRoutes)];

/** The status, and whether the response names the field. */
const sent = async ({ method, path, where, key }: Field, time: string) => {
  const url = new URL(
    path.replaceAll(/:\w+/g, () => randomUUID()),
    platform.server.url,
  );
  if (where === 'query') url.searchParams.set(key, time);
  const headers = { 'content-type': 'application/json', 'x-api-key': platform.key };
  const body = where === 'body' ? { body: JSON.stringify({ [key]: time }) } : {};
  const response = await fetch(url, { method: method.toUpperCase(), headers, ...body });
  // A success may be a stream, which does not end.
  if (response.ok) await response.body?.cancel();
  const text = response.ok ? '' : await response.text();
  return { status: response.status, isNamed: text.includes(`["${where}","${key}"]`) };
};

describe('a time in a request', () => {
  it('is found in the contract', () => {
    expect(fields.length).toBeGreaterThan(30);
  });

  it.each(fields.map((field) => [`${field.where}.${field.key} of ${field.name}`, field] as const))(
    'is checked: %s',
    async (_, field) => {
      for (const bad of [
        'soon',
        '0000-01-01T00:00:00Z',
        '0001-01-01T00:00:00+01:00',
        '9999-12-31T23:59:59-01:00',
        '10000-01-01T00:00:00Z',
        '2026-02-30T00:00:00Z',
        '2026-01-01T00:00:00+25:00',
      ])
        expect(await sent(field, bad), bad).toEqual({ status: 422, isNamed: true });
      for (const good of ['0020-01-31T12:00:00Z', '2026-01-31T12:00:00', '2026-01-31T12:00:00.123456+14:00'])
        expect((await sent(field, good)).status, good).toBeLessThan(500);
    },
  );

  it.each([
    ['2026-01-31T12:00:00', '2026-01-31T12:00:00.000000Z'],
    ['2026-01-31T12:00', '2026-01-31T12:00:00.000000Z'],
    ['2026-01-31T12:00:00.123456789+02:30', '2026-01-31T09:30:00.123456Z'],
    ['0020-01-31T12:00:00Z', '0020-01-31T12:00:00.000000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000000Z'],
    ['9999-12-31T23:59:59.999999Z', '9999-12-31T23:59:59.999999Z'],
    ['9999-12-31T23:59:59+15:00', '9999-12-31T08:59:59.000000Z'],
  ])('is read in UTC: %s', (text, time) => {
    expect(When.parse(text)).toBe(time);
  });

  it('in a price may be in the year 20', async () => {
    const cost = { prompt_cost: '1', completion_cost: '1' };
    const json = { name: 'old', match_pattern: '^old$', start_time: '0020-01-31T12:00:00', ...cost };
    const { status, body } = await platform.call('POST', '/model-prices', { json });
    expect({ status, body }).toMatchObject({ status: 200, body: { start_time: '0020-01-31T12:00:00.000Z' } });
    const { body: prices } = await platform.call('GET', '/model-prices');
    expect(prices).toContainEqual(body);
  });

  it('in a cron without a zone is in UTC', async () => {
    const json = {
      assistant_id: 'chat',
      schedule: '0 0 1 1 *',
      input: {},
      end_time: '2999-01-31T12:00:00',
    };
    const response = await fetch(`${platform.server.url}/runs/crons`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(json),
    });
    const cron = (await response.json()) as { end_time: string };
    expect(response.status, JSON.stringify(cron)).toBe(200);
    expect(cron.end_time).toBe('2999-01-31T12:00:00.000Z');
  });
});
