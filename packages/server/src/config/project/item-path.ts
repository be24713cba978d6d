// Paths of texts in the value of a store item, as the stock stores write them:
//
//   $                    the whole value; a leading `$.` of a longer path may be left out
//   author.name          a member
//   chapters[0].title    an element; [-1] is the last one
//   chapters[*].title    every element, each with a vector of its own
//   *                    every member, or every element
//   {title,author.name}  several members

export type ItemPathStep =
  | { kind: 'member'; name: string }
  | { kind: 'element'; index: number }
  | { kind: 'elements' }
  | { kind: 'all' }
  | { kind: 'members'; paths: ItemPath[] };

/** Steps from the value to its texts. Without steps, the whole value. */
export type ItemPath = readonly ItemPathStep[];

export class ItemPathError extends Error {}

/** Throws an ItemPathError that says what is wrong with the path. */
export const parseItemPath = (path: string): ItemPath => {
  const tokens = tokensOf(path);
  return (tokens[0] === '$' ? tokens.slice(1) : tokens).map(toStep);
};

const tokensOf = (path: string): string[] => {
  // A part in brackets or braces, which must not contain others of its kind, or a name.
  const token = /\[[^[\]{}]*\]|\{[^{}]*\}|[^.[\]{}]+/y;
  const tokens: string[] = [];
  let at = 0;
  while (at < path.length) {
    if (path[at] === '.') {
      at++;
      continue;
    }
    token.lastIndex = at;
    const [found] = token.exec(path) ?? [];
    if (found === undefined)
      throw new ItemPathError(`the path ${JSON.stringify(path)} has "${path[at]}" without its counterpart`);
    tokens.push(found);
    at += found.length;
  }
  return tokens;
};

const toStep = (text: string): ItemPathStep => {
  if (text === '*') return { kind: 'all' };
  const inner = text.slice(1, -1);
  if (text.startsWith('[')) {
    if (inner === '*') return { kind: 'elements' };
    if (!/^-?\d{1,9}$/.test(inner))
      throw new ItemPathError(
        `${text} is not an index: write [0], [-1] for the last element, or [*] for all`,
      );
    return { kind: 'element', index: Number(inner) };
  }
  if (!text.startsWith('{')) return { kind: 'member', name: text };
  const paths = inner
    .split(',')
    .map((path) => parseItemPath(path.trim()))
    .filter((path) => path.length > 0);
  if (paths.length === 0) throw new ItemPathError(`${text} names no member`);
  return { kind: 'members', paths };
};
