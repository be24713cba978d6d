import type { RouteShape } from '@svc/contract';
import { type Fault, invalid, Problem } from '@svc/contract/problem';
import * as z from 'zod';
import type { Parsing } from '../../parsing/parsing.ts';
import { type BodyLimits, readJsonBody } from '../body/body.ts';
import type { HttpContext, RequestCall } from './call.ts';
import { openUpload } from '../body/upload.ts';
import { nearest } from '../../config/project/mistake.ts';
import { shortKey } from '../../json/json-faults.ts';

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

type Issue = z.core.$ZodIssue;

/** Maximum number of faults in a response. */
const faultsMax = 20;
const namedInMessage = 3;

/** The Problem for a part of the request that is invalid under its schema. */
const invalidInput = (
  where: 'body' | 'query' | 'path',
  issues: readonly Issue[],
  code: 'invalid' | 'bad_request' = 'invalid',
): Problem => {
  // Unknown keys first: a misspelled key explains the missing one.
  const sorted = issues.toSorted((a, b) => Number(isUnknownKey(b)) - Number(isUnknownKey(a)));
  const faults = sorted.slice(0, faultsMax).map((issue) => toFault([where], issue));
  return new Problem(code, sentence(faults, issues.length), { faults });
};

const isUnknownKey = (issue: Issue): boolean => issue.code === 'unrecognized_keys';

const sentence = (faults: Fault[], total: number): string => {
  const named = faults.slice(0, namedInMessage).map(({ loc, msg }) => `${loc.join('.')}: ${msg}`);
  const rest = total - named.length;
  return rest > 0 ? `${named.join('; ')}; and ${rest} more` : named.join('; ');
};

const toFault = (prefix: (string | number)[], issue: Issue): Fault => {
  const path = issue.path.map((key) => (typeof key === 'number' ? key : shortKey(String(key))));
  const unknown =
    issue.code === 'unrecognized_keys' && issue.keys.length === 1 ? issue.keys.map(shortKey) : [];
  const loc = [...prefix, ...path, ...unknown];
  if (issue.code === 'invalid_union') {
    const nearest = nearestBranch(issue.errors);
    if (nearest !== undefined) return toFault(loc, nearest);
  }
  return { loc, msg: shortText(issue.message), type: issue.code };
};

/** The issue of the branch of a union that was most likely meant: the branch whose issue is deepest. */
const nearestBranch = (branches: readonly (readonly Issue[])[]): Issue | undefined => {
  let deepest: Issue | undefined;
  let depthMax = 0;
  for (const issues of branches) {
    const issue = issues.find(isUnknownKey) ?? issues[0];
    // A value with unknown keys is an object, as the branch requires.
    const depth = (issue?.path.length ?? 0) + (issue !== undefined && isUnknownKey(issue) ? 1 : 0);
    if (depth > depthMax) [deepest, depthMax] = [issue, depth];
  }
  return deepest;
};

/** Longer keys are not compared with known ones. */
const comparedCharsMax = 64;

/** The message for unknown keys, with a suggestion for a misspelled key. */
const unknownKeys: z.core.$ZodErrorMap = (issue) => {
  if (issue.code !== 'unrecognized_keys') return undefined;
  const { inst, keys } = issue;
  const known = inst instanceof z.ZodObject ? Object.keys(inst.shape as object) : [];
  const named = keys.slice(0, namedInMessage).map((key) => {
    const near = key.length <= comparedCharsMax ? nearest(key, known) : undefined;
    return `unknown key ${JSON.stringify(shortKey(key))}${near === undefined ? '' : `, did you mean ${JSON.stringify(near)}?`}`;
  });
  const rest = keys.length - named.length;
  return rest > 0 ? `${named.join('; ')}; and ${rest} more` : named.join('; ');
};

const messageCharsMax = 500;

/** Cuts long messages, because some contain parts of the request. */
const shortText = (text: string): string =>
  text.length > messageCharsMax ? `${text.slice(0, messageCharsMax)}…` : text;
