import { ConfigError, formatMistake } from '../../config/project/mistake.ts';
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

export const databaseRemedy = (message: string): string => {
  if (/does not support SSL/.test(message))
    return 'Switch on ssl in PostgreSQL, or write sslmode=prefer or sslmode=disable in DATABASE_URI.';
  if (/no encryption|SSL off/.test(message))
    return 'PostgreSQL accepts connections with TLS only: add sslmode=require, or better sslmode=verify-full, to DATABASE_URI. Or allow this host, user and database in pg_hba.conf.';
  if (/ENOENT|EACCES/.test(message) && /open '/.test(message))
    return 'Name files that this process can read in sslrootcert, sslcert and sslkey of DATABASE_URI.';
  if (/altnames|IP address mismatch|hostname.*certificate/i.test(message))
    return "Use a host name of the server's certificate in DATABASE_URI, or sslmode=verify-ca with sslrootcert, which does not compare names.";
  if (/certificate|self[- ]signed|unable to verify|CERT_/i.test(message))
    return "Name the certificate of the authority that signed the server's certificate, which must not be expired, in sslrootcert of DATABASE_URI. sslmode=require does not check certificates.";
  if (/password|authentication|role ".*" does not exist|no pg_hba/i.test(message))
    return 'Correct the user and the password in DATABASE_URI, or allow this host in pg_hba.conf.';
  if (/permission denied for database|not permitted to log in/i.test(message))
    return 'As an administrator: ALTER ROLE user LOGIN; GRANT CONNECT, CREATE ON DATABASE name TO user;';
  if (/database ".*" does not exist/.test(message))
    return 'Create the database, or correct its name in DATABASE_URI.';
  if (/15 or newer/.test(message))
    return 'Upgrade the PostgreSQL server, or point DATABASE_URI to a newer one.';
  if (/encoding UTF8/.test(message))
    return 'Create a database with this encoding, and name it in DATABASE_URI.';
  if (/ALTER ROLE/.test(message)) return 'Execute the statements, and close the pooled connections.';
  if (/pooler/.test(message))
    return 'Point DATABASE_URI to PostgreSQL itself, or set SVC_DATABASE_LISTEN_URI (docs/database.md, connection poolers).';
  if (/too many (clients|connections)|remaining connection slots/i.test(message))
    return 'Raise max_connections, or lower SVC_POOL_MAX or SVC_EXECUTORS of the servers.';
  return 'Check host and port in DATABASE_URI, that PostgreSQL runs there, and that firewalls allow the connection.';
};
