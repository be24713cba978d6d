// The request headers that svc.json selects by patterns, in which `*` stands for any characters: those that graphs get in `configurable`,
// and those that the log contains. `excludes` has priority over `includes`.
import * as z from 'zod';
import type { Mistake } from './mistake.ts';

const patterns = z
  .array(
    z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/, {
      error: 'must be the name of a header; * stands for any characters',
    }),
  )
  .max(100);

export const HeaderPatterns = z.strictObject({
  includes: patterns.optional().describe('Headers that are selected: ["x-user-id", "x-tenant-*"]'),
  excludes: patterns.optional().describe('Headers that are left out although `includes` matches'),
  include: patterns.optional().describe('The same as `includes`'),
  exclude: patterns.optional().describe('The same as `excludes`'),
});

/** Returns the selected headers. Names are in lower case. */
export type SelectHeaders = (headers: Readonly<Record<string, string>>) => Record<string, string>;

/** Has the credential of a request that code of the project sends to its own server. */
export const ownHeader = 'x-svc-caller';

/** Never selected: they would be stored with the run, or be in the log. */
const credentials = new Set([
  'authorization',
  ownHeader,
  'proxy-authorization',
  'cookie',
  'x-api-key',
  'x-service-key',
  'x-svc-csrf',
]);

const toMatcher = (list: readonly string[]): ((name: string) => boolean) => {
  const all = list.map((pattern) => {
    const source = pattern
      .toLowerCase()
      .split('*')
      .map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`));
    return new RegExp(`^${source.join('.*')}$`);
  });
  return (name) => all.some((pattern) => pattern.test(name));
};

export interface HeaderPatternSources {
  section: z.infer<typeof HeaderPatterns> | undefined;
  where: (path: (string | number)[]) => string;
  path: string[];
  mistakes: Mistake[];
}

/** Undefined when no header is selected. */
export function readHeaderPatterns({
  section,
  where,
  path,
  mistakes,
}: HeaderPatternSources): SelectHeaders | undefined {
  const includes = [...(section?.includes ?? []), ...(section?.include ?? [])];
  const named = includes.find((pattern) => credentials.has(pattern.toLowerCase()));
  if (named !== undefined)
    mistakes.push({
      where: where(path),
      problem: `selects ${named}, which contains credentials`,
      remedy:
        'Pass on what authentication returns about the user instead: graphs get it in configurable.svc_auth_user.',
    });
  if (includes.length === 0) return undefined;
  const isIncluded = toMatcher(includes);
  const isExcluded = toMatcher([...(section?.excludes ?? []), ...(section?.exclude ?? [])]);
  return (headers) =>
    Object.fromEntries(
      Object.entries(headers).filter(
        ([name]) => isIncluded(name) && !isExcluded(name) && !credentials.has(name),
      ),
    );
}
