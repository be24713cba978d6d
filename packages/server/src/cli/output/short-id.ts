// Finds objects by the first characters of their id, as progress bars show them.
import type { PlatformClient } from '@svc/sdk';
import { isId } from '../platform-api.ts';
import { mistake } from '../server-address.ts';

const charsMin = 4;
const shown = 5;
const beginning = /^[0-9a-f][0-9a-f-]*$/i;

interface Named {
  id: string;
}

/** Returns undefined when no id begins with the prefix. Throws a UsageError with the candidates when several do. */
export const pickByPrefix = <T extends Named>(found: readonly T[], prefix: string): T | undefined => {
  const wanted = prefix.toLowerCase();
  const matching = found.filter(({ id }) => id.startsWith(wanted));
  if (matching.length <= 1) return matching[0];
  const ids = matching.slice(0, shown).map(({ id }) => id);
  const more = matching.length > shown ? ', …' : '';
  throw mistake('id', prefix, `Several ids begin with it: ${ids.join(', ')}${more}. Give more characters.`);
};

export const isPrefix = (text: string): boolean => beginning.test(text) && text.length >= charsMin;

/** Resolves a full id, or four or more of its first characters, to the id of an export. */
export const exportId = async (client: PlatformClient, named: string): Promise<string> => {
  if (isId(named)) return named.toLowerCase();
  if (!isPrefix(named))
    throw mistake(
      'id',
      named,
      `Give the id, or its first ${charsMin} or more characters (svc exports list).`,
    );
  const found = pickByPrefix(await client.exports.list({ id_prefix: named, limit: shown + 1 }), named);
  if (found === undefined)
    throw new Error(`There is no export whose id begins with ${named} (see svc exports list)`);
  return found.id;
};
