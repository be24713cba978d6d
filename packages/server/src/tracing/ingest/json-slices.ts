// Finds the ranges of values in JSON text, so that they can be stored exactly as they were sent. The text must be valid JSON: callers have
// parsed it before.
import { payloadNames, type SentRun } from './sent-run.ts';

/** Index of the first character, and index after the last. */
export type Slice = [start: number, end: number];

/** The members of the object that begins at `start`. Of duplicate names the last one counts, as in JSON.parse(). */
export const membersOf = (text: string, start: number): Map<string, Slice> => {
  const members = new Map<string, Slice>();
  let at = afterSpace(text, start + 1);
  while (text[at] !== '}') {
    const nameEnd = afterString(text, at);
    const name = JSON.parse(text.slice(at, nameEnd)) as string;
    const value = afterSpace(text, afterSpace(text, nameEnd) + 1);
    const end = afterValue(text, value);
    members.set(name, [value, end]);
    at = afterComma(text, end);
  }
  return members;
};

/** The items of the list that begins at `start`. */
export const itemsOf = (text: string, start: number): Slice[] => {
  const items: Slice[] = [];
  let at = afterSpace(text, start + 1);
  while (text[at] !== ']') {
    const end = afterValue(text, at);
    items.push([at, end]);
    at = afterComma(text, end);
  }
  return items;
};

/** The payloads of the run whose object begins at `start`. `run`: the parsed object. */
export const payloadsIn = (
  run: Record<string, unknown>,
  text: string,
  start: number,
): SentRun['payloads'] => {
  const payloads: SentRun['payloads'] = {};
  const members = payloadNames.some((name) => run[name] !== undefined) ? membersOf(text, start) : undefined;
  for (const name of payloadNames) {
    const slice = members?.get(name);
    if (slice) payloads[name] = { text: text.slice(...slice), value: run[name] };
  }
  return payloads;
};

export const afterSpace = (text: string, at: number): number => {
  while (' \n\r\t'.includes(text[at] ?? 'x')) at++;
  return at;
};

const afterComma = (text: string, end: number): number => {
  const at = afterSpace(text, end);
  return text[at] === ',' ? afterSpace(text, at + 1) : at;
};

/** Index after the closing quote of the string that begins at `start`. */
const afterString = (text: string, start: number): number => {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === '\\') slashes++;
    if (slashes % 2 === 0) return end + 1;
  }
};

const afterValue = (text: string, start: number): number => {
  const first = text[start];
  if (first === '"') return afterString(text, start);
  if (first !== '{' && first !== '[') {
    let end = start;
    while (end < text.length && !',]} \n\r\t'.includes(text[end] ?? '')) end++;
    return end;
  }
  let depth = 0;
  for (let at = start; ; at++) {
    const character = text[at];
    if (character === '"') at = afterString(text, at) - 1;
    else if (character === '{' || character === '[') depth++;
    else if ((character === '}' || character === ']') && --depth === 0) return at + 1;
  }
};
