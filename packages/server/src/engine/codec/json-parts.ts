// Cuts JSON text into the texts of its parts. Parsing would change numbers: Python distinguishes 1.0 from 1.
import { damaged } from './codec-error.ts';

const quote = 34;
const backslash = 92;
const comma = 44;

/** The index after the string that begins at `start`. */
const afterString = (text: string, start: number): number => {
  let end = text.indexOf('"', start + 1);
  while (end !== -1) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === backslash) backslashes++;
    if (backslashes % 2 === 0) return end + 1;
    end = text.indexOf('"', end + 1);
  }
  throw damaged('a string of JSON has no end');
};

const isOpening = (code: number): boolean => code === 91 || code === 123;
const isClosing = (code: number): boolean => code === 93 || code === 125;

/** The index of the comma after the part that begins at `start`, or of the bracket that closes the list or object. */
const afterPart = (text: string, start: number): number => {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = afterString(text, at) - 1;
    else if (isOpening(code)) depth++;
    else if (isClosing(code) && depth-- === 0) return at;
    else if (code === comma && depth === 0) return at;
  }
  throw damaged('a list or object of JSON has no end');
};

/** The texts of the elements of a JSON list without whitespace. */
export const elementsOf = (text: string): string[] => {
  const elements: string[] = [];
  if (text === '[]') return elements;
  for (let at = 1; at < text.length;) {
    const end = afterPart(text, at);
    elements.push(text.slice(at, end));
    at = end + 1;
  }
  return elements;
};

/** The keys of a JSON object without whitespace, with the texts of their values. */
export const membersOf = (text: string): [key: string, text: string][] => {
  const members: [string, string][] = [];
  if (text === '{}') return members;
  for (let at = 1; at < text.length;) {
    const colon = afterString(text, at);
    const end = afterPart(text, colon + 1);
    members.push([JSON.parse(text.slice(at, colon)) as string, text.slice(colon + 1, end)]);
    at = end + 1;
  }
  return members;
};

/** The text of a JSON object. */
export const objectText = (members: readonly (readonly [string, string])[]): string =>
  `{${members.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`;
