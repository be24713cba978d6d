/**
 * True when a JSON value contains another, as PostgreSQL's `jsonb @>` defines it: an object contains the keys of the other, with values
 * that contain its values; a list contains every element of the other; scalars are equal.
 */
export const contains = (value: unknown, part: unknown): boolean => {
  if (Array.isArray(part)) {
    return Array.isArray(value) && part.every((wanted) => value.some((element) => contains(element, wanted)));
  }
  if (typeof part === 'object' && part !== null) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    return Object.entries(part).every(
      ([key, wanted]) =>
        Object.hasOwn(value, key) && contains((value as Record<string, unknown>)[key], wanted),
    );
  }
  return value === part;
};
