/** At most `max` characters of a text, which ends with `…` after a whole word when it is cut. */
export const cutText = (text: string, max: number): string => {
  if (text.length <= max) return text;
  const cut = text.slice(0, max - 1);
  const space = cut.search(/\s\S*$/);
  // A text without spaces is cut within its word.
  return `${(space > max / 2 ? cut.slice(0, space) : cut).trimEnd()}…`;
};
