import { type Fault, Problem } from '@svc/contract/problem';
import type { z } from 'zod';
import { shortKey } from '../body/json-faults.ts';

type Issue = z.core.$ZodIssue;

/** A list of ten thousand wrong items needs no ten thousand sentences. */
const faultsMax = 20;
const namedInMessage = 3;

/** What a schema refused, as a Problem. `where` is the part of the request: body, query or path. */
export const invalidInput = (where: 'body' | 'query' | 'path', issues: readonly Issue[]): Problem => {
  const faults = issues.slice(0, faultsMax).map((issue) => toFault([where], issue));
  return new Problem('invalid', sentence(faults, issues.length), { faults });
};

const sentence = (faults: Fault[], total: number): string => {
  const named = faults.slice(0, namedInMessage).map(({ loc, msg }) => `${loc.join('.')}: ${msg}`);
  const rest = total - named.length;
  return rest > 0 ? `${named.join('; ')}; and ${rest} more` : named.join('; ');
};

const toFault = (prefix: (string | number)[], issue: Issue): Fault => {
  const path = issue.path.map((key) => (typeof key === 'number' ? key : shortKey(String(key))));
  const loc = [...prefix, ...path];
  if (issue.code === 'invalid_union') {
    const nearest = nearestBranch(issue.errors);
    if (nearest !== undefined) return toFault(loc, nearest);
  }
  return { loc, msg: shortText(issue.message), type: issue.code };
};

/** Of a union, the branch that came furthest into the value is most likely the one that was meant. */
const nearestBranch = (branches: readonly (readonly Issue[])[]): Issue | undefined => {
  let nearest: Issue | undefined;
  for (const [first] of branches) {
    if (first !== undefined && first.path.length > (nearest?.path.length ?? 0)) nearest = first;
  }
  return nearest;
};

const messageCharsMax = 500;

/** Some messages list what they were given, such as all unknown keys of an object. */
const shortText = (text: string): string =>
  text.length > messageCharsMax ? `${text.slice(0, messageCharsMax)}…` : text;
