/** The value of a `Vary` header with the names of these values, each once. */
export const joinVary = (...values: (number | string | readonly string[] | null | undefined)[]): string => {
  const names = new Map<string, string>();
  for (const value of values)
    for (const part of (value ?? '').toString().split(',')) {
      const name = part.trim();
      const key = name.toLowerCase();
      if (name !== '' && !names.has(key)) names.set(key, name);
    }
  return [...names.values()].join(', ');
};
