import { isatty, WriteStream } from 'node:tty';
import { inspect } from 'node:util';
import { type DestinationStream, type Logger, pino } from 'pino';
import type { Settings } from '../config/settings/settings.ts';
import { LogLines } from './log-lines.ts';

export type { Logger } from 'pino';

/** Writes to standard error by default. Secrets are redacted at any depth. `linesOf` returns its lines for another reader. */
export function createLogger(
  { level, format }: Settings['log'],
  // Synchronous, so that the last records before the end of the process are not lost.
  destination: DestinationStream = pino.destination({ dest: 2, sync: true }),
): Logger {
  const colour = isatty(2) && WriteStream.prototype.hasColors();
  const pretty = { write: (line: string) => destination.write(prettyRecord(line, colour)) };
  const lines = new LogLines();
  const logger = pino(
    {
      level,
      base: null,
      formatters: { log: redact },
      hooks: {
        streamWrite: (line) => {
          lines.note(line);
          return line;
        },
      },
      serializers: { err: (error: Error) => redactError(pino.stdSerializers.err(error)) },
    },
    format === 'json' ? destination : pretty,
  );
  // pino does not apply its formatter to the bindings of a child logger.
  // oxlint-disable-next-line typescript/unbound-method -- called with `this` below
  const { child } = logger;
  logger.child = function redactedChild(this: Logger, bindings, options) {
    return child.call(this, redact(bindings), options);
  } as Logger['child'];
  lines.attach(logger);
  return logger;
}

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

const secretKey =
  /^(proxy-)?authorization$|^(set-)?cookie$|^x-(api|auth)-key$|password|secret|^api_?key$|_api_?key$/i;

const depthMax = 8;

/**
 * Keeps the texts and numbers of a serialised error. Drops its objects, which are often requests and responses with credentials.
 */
function redactError(error: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(error).flatMap(([key, value]): [string, unknown][] => {
      if (secretKey.test(key)) return [[key, '[redacted]']];
      if (key === 'aggregateErrors' && Array.isArray(value)) return [[key, value.map(redactError)]];
      return typeof value === 'object' && value !== null ? [] : [[key, value]];
    }),
  );
}

/** Copies a record without secrets, at any depth. Errors are not changed: the logger serialises them. */
function redact(record: Record<string, unknown>, depth = 0): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [
      key,
      secretKey.test(key) ? '[redacted]' : inside(value, depth),
    ]),
  );
}

function inside(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  // Ends cycles too.
  if (depth >= depthMax) return '[deep]';
  if (Array.isArray(value)) return value.map((element: unknown) => inside(element, depth + 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  const plain = prototype === Object.prototype || prototype === null;
  return plain ? redact(value as Record<string, unknown>, depth + 1) : value;
}
