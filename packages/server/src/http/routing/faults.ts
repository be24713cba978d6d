import { type Fault, Problem } from '@svc/contract/problem';
import * as z from 'zod';
import { nearest } from '../../config/project/nearest.ts';
import { shortKey } from '../../json/json-faults.ts';

type Issue = z.core.$ZodIssue;

/** Maximum number of faults in a response. */
const faultsMax = 20;
const namedInMessage = 3;

/** The Problem for a part of the request that is invalid under its schema. */
export const invalidInput = (
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
export const unknownKeys: z.core.$ZodErrorMap = (issue) => {
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
