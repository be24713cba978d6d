import { inspect } from 'node:util';

const levels: Record<number, [name: string, colour: number]> = {
  10: ['trace', 90],
  20: ['debug', 36],
  30: ['info', 32],
  40: ['warn', 33],
  50: ['error', 31],
  60: ['fatal', 35],
};

/** Formats a JSON log record for people. Other lines are not changed. */
export function prettyRecord(line: string, colour: boolean): string {
  let record: unknown;
  try {
    record = JSON.parse(line);
  } catch {
    // Other code writes to the stream too.
    return line;
  }
  if (typeof record !== 'object' || record === null) return line;
  const { level, time, msg, err, ...rest } = record as Record<string, unknown>;
  const [name, code] = levels[Number(level)] ?? ['log', 0];
  const paint = (text: string, colourCode: number): string =>
    colour ? `\u001b[${colourCode}m${text}\u001b[0m` : text;
  const clock = new Date(Number(time)).toTimeString().slice(0, 8);
  const fields = Object.entries(rest).map(([key, value]) => `${key}=${shown(value)}`);
  const head = [paint(clock, 90), paint(name.padEnd(5), code), ...(typeof msg === 'string' ? [msg] : [])];
  return `${[...head, ...fields.map((field) => paint(field, 90))].join(' ')}\n${errorLines(err)}`;
}

function shown(value: unknown): string {
  if (typeof value === 'string') return /^[\w./:@-]+$/.test(value) ? value : JSON.stringify(value);
  return inspect(value, { breakLength: Infinity, depth: 4 });
}

function errorLines(err: unknown): string {
  if (typeof err !== 'object' || err === null) return '';
  const { stack, message } = err as { stack?: unknown; message?: unknown };
  const text = [stack, message].find((candidate) => typeof candidate === 'string') ?? inspect(err);
  return `${text.replace(/^/gm, '    ')}\n`;
}
