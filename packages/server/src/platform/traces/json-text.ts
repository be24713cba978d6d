// JSON as tracers send it. Unlike elsewhere, odd numbers and texts are taken as they are, since what is kept is the text itself.
import { isUtf8 } from 'node:buffer';
import { RunRejected } from './sent-run.ts';

const depthMax = 512;

/** Throws RunRejected for what is no JSON, or is nested so deep that reading it is a burden. */
export const parseJson = (bytes: Uint8Array, what: string): unknown => readJson(bytes, what).value;

/** The same, with the text that it was read from. */
export const readJson = (bytes: Uint8Array, what: string): { text: string; value: unknown } => {
  if (!isUtf8(bytes)) throw new RunRejected(`${what} is not valid UTF-8`);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
  // Before it is parsed: a million brackets are a gigabyte then.
  if (isTooDeep(text)) throw new RunRejected(`${what} is nested deeper than ${depthMax} levels`);
  try {
    return { text, value: JSON.parse(text) };
  } catch (cause) {
    const said = cause instanceof Error ? cause.message.slice(0, 200) : '';
    throw new RunRejected(`${what} is not valid JSON: ${said}`);
  }
};

const quote = 34;
const backslash = 92;

const isTooDeep = (text: string): boolean => {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = afterString(text, at + 1);
        break;
      case 91: // [
      case 123: // {
        if (++depth > depthMax) return true;
        break;
      case 93: // ]
      case 125: // }
        depth--;
        break;
      default:
    }
  }
  return false;
};

/** Index of the closing quote. */
const afterString = (text: string, start: number): number => {
  for (let end = text.indexOf('"', start); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
};
