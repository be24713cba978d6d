import { isatty, WriteStream } from 'node:tty';
import { pino } from 'pino';
import type { DestinationStream, Logger } from 'pino';
import type { Settings } from '../config/settings/settings.ts';
import { LogLines } from './log-lines.ts';
import { prettyRecord } from './pretty.ts';
import { redact, redactError } from './redact.ts';

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
