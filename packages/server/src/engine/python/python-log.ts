// Records of Python's logging, which a process sends as frames of the kind `log`.
import type { Logger } from 'pino';
import type { FrameHeader } from './frames.ts';

export type PythonLogger = Pick<Logger, 'info' | 'warn' | 'error' | 'debug'>;

export const logPython = (
  logger: PythonLogger,
  { level, logger: name, message }: FrameHeader,
  fields: object = {},
): void => {
  const all = { ...fields, logger: name };
  const text = String(message);
  if (level === 'error' || level === 'critical') logger.error(all, text);
  else if (level === 'warning') logger.warn(all, text);
  else if (level === 'debug') logger.debug(all, text);
  else logger.info(all, text);
};
