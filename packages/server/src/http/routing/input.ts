import type { RouteShape } from '@svc/contract';
import { invalid, Problem } from '@svc/contract/problem';
import type { z } from 'zod';
import type { Parsing } from '../../parsing/parsing.ts';
import { type BodyLimits, readJsonBody } from '../body/body.ts';
import type { HttpContext, RequestCall } from './call.ts';
import { invalidInput, unknownKeys } from './faults.ts';
import { openUpload } from '../body/upload.ts';

export interface Input {
  params: unknown;
  query: unknown;
  body: unknown;
}

/** Reads and validates the input of a route. */
export const readInput = async (
  route: RouteShape,
  context: HttpContext,
  call: RequestCall,
  options: BodyLimits & Parsing,
): Promise<Input> => {
  const url = context.req.url;
  assertDecodable(url);
  const params = route.params === undefined ? {} : check('path', route.params, readParams(context));
  const query = route.query === undefined ? {} : check('query', route.query, readQuery(url));
  if (route.upload !== undefined) {
    return { params, query, body: openUpload(context, call, route.upload, options.uploadBytesMax) };
  }
  if (route.body === undefined) return { params, query, body: undefined };
  const value = await readJsonBody(context, call, options, route);
  return { params, query, body: check('body', route.body, value, route.malformed) };
};

const check = (
  where: 'body' | 'query' | 'path',
  schema: z.ZodType,
  value: unknown,
  code?: 'bad_request',
): unknown => {
  const result = schema.safeParse(value, { error: unknownKeys });
  if (result.success) return result.data;
  throw invalidInput(where, result.error.issues, code);
};

/** Checked before the lenient decoding, which would convert `%ff` to a replacement character. */
const assertDecodable = (url: string): void => {
  if (!url.includes('%')) return;
  try {
    decodeURIComponent(url);
  } catch (cause) {
    throw new Problem('bad_request', 'The URL has a percent-encoding that is not valid UTF-8.', { cause });
  }
};

const readParams = (context: HttpContext): Record<string, string> => {
  const params = context.req.param() as Record<string, string>;
  for (const name in params) assertStorable(['path', name], params[name]);
  return params;
};

/**
 * A list of values for a repeated key, otherwise the single value. An empty value is absent: stock clients send `stream_mode=` for a
 * default. The object has no prototype, because clients choose the keys.
 */
const readQuery = (url: string): Record<string, string | string[]> => {
  const query = Object.create(null) as Record<string, string | string[]>;
  const start = url.indexOf('?');
  if (start === -1) return query;
  for (const [key, value] of new URLSearchParams(url.slice(start + 1))) {
    if (value === '') continue;
    assertStorable(['query', key], value);
    const before = query[key];
    if (before === undefined) query[key] = value;
    else if (typeof before === 'string') query[key] = [before, value];
    else before.push(value);
  }
  return query;
};

const assertStorable = (loc: string[], value: string | undefined): void => {
  if (value?.includes('\0')) {
    throw invalid(
      loc,
      `${loc.join('.')} contains the character U+0000, which cannot be stored`,
      'string_invalid',
    );
  }
};
