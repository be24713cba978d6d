// What an operator can do when a database cannot be opened, by the message of `openDatabase`.
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
