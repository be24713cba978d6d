import { ConfigError, formatMistake } from '../../config/project/mistake.ts';
import { databaseRemedy } from './database-remedy.ts';
import { UsageError } from './exit-code.ts';

/** The error message of a command. */
export function explain(error: unknown): string {
  if (error instanceof ConfigError) return explainMistakes(error);
  if (!(error instanceof Error)) return `svc: ${String(error)}`;
  const listening = explainListen(error);
  if (listening !== undefined) return `svc: ${listening}`;
  const remedy = remedyOf(error);
  return `svc: ${reasons(error).join('\n  because: ')}${remedy === undefined ? '' : `\n  ${remedy}`}`;
}

function remedyOf({ message, code }: NodeJS.ErrnoException): string | undefined {
  if (message.startsWith('The database cannot be reached: ')) return databaseRemedy(message);
  if (code === '42501')
    return 'The user of DATABASE_URI lacks a right. svc doctor prints the statements that grant all of them.';
  if (code === 'EACCES' || code === 'EROFS')
    return 'Grant this user permission for this path, or name another one. A unit of systemd sees most paths read-only.';
  return undefined;
}

function explainMistakes(error: ConfigError): string {
  const { mistakes } = error;
  const where = error instanceof UsageError ? 'the command line' : 'the configuration';
  const title = mistakes.length === 1 ? 'There is a mistake' : `There are ${mistakes.length} mistakes`;
  return [`${title} in ${where}:`, '', ...mistakes.map((mistake) => `  ${formatMistake(mistake)}`)].join(
    '\n',
  );
}

function explainListen(
  error: NodeJS.ErrnoException & { port?: number; address?: string },
): string | undefined {
  const { code, syscall, port, address } = error;
  if (syscall !== 'listen' && syscall !== 'getaddrinfo') return undefined;
  switch (code) {
    case 'EADDRINUSE':
      return `port ${port} of ${address} is in use. Stop the program that uses it, or choose another port: --port ${Number(port) + 1}`;
    case 'EACCES':
      return `port ${port} may not be opened by this user. Choose one above 1023: --port 2024`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${address ?? 'the host'} is no address of this machine. Choose another: --host 127.0.0.1 or --host 0.0.0.0`;
    case undefined:
    default:
      return undefined;
  }
}

/** The messages of the error and its causes, without duplicates. */
function reasons(error: Error): string[] {
  const found: string[] = [];
  let current: unknown = error;
  while (current instanceof Error && found.length < 8) {
    // A refused connection to several addresses is an AggregateError without a message.
    const errors: unknown[] = current instanceof AggregateError ? current.errors : [];
    const message =
      current.message ||
      errors.map((each) => (each instanceof Error ? each.message : String(each))).join('; ');
    if (message !== '' && !found.some((text) => text.endsWith(message))) found.push(message);
    current = current.cause;
  }
  return found.length > 0 ? found : [error.name];
}
