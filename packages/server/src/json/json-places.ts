// Finds values in JSON text, so that they can be stored exactly as they were sent. The text must be valid JSON.

/** Where a value is: the index of its first character, and the index after its last. */
export interface JsonPlace {
  start: number;
  end: number;
  /** Members by name, or items by index. Of duplicate names the last one counts, as in JSON.parse(). */
  inner: Map<string | number, JsonPlace>;
}

/** The place of the whole value, with the values inside it on the levels that `countJson` has marked. */
export const placeOf = (text: string, marks: readonly number[]): JsonPlace => {
  let next = 0;
  const take = (): number => marks[next++] ?? text.length;
  const isNext = (characters: string): boolean => characters.includes(text[marks[next] ?? -1] ?? ' ');
  /** The value that begins after the index `before`. Takes all marks within it; the mark behind them ends the value. */
  const read = (before: number): JsonPlace => {
    const inner: JsonPlace['inner'] = new Map();
    if (isNext('[{')) {
      const isObject = isNext('{');
      let at = take();
      if (isNext(']}') && text.slice(at + 1, marks[next]).trim() === '') at = take();
      for (let index = 0; '[{,'.includes(text[at] ?? ' '); index++) {
        const start = isObject ? take() : at;
        const name = isObject ? (JSON.parse(text.slice(at + 1, start)) as string) : index;
        inner.set(name, read(start));
        at = take();
      }
    }
    let [start, end] = [before + 1, marks[next] ?? text.length];
    while (start < end && text.charCodeAt(start) <= 32) start++;
    while (start < end && text.charCodeAt(end - 1) <= 32) end--;
    return { start, end, inner };
  };
  return read(-1);
};
