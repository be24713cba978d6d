// PostgreSQL URIs with the features of libpq: several hosts, sockets, target_session_attrs and sslmode. The driver supports one host and one
// way to connect, so each host becomes URIs of its own.
// https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS

const sessionAttributes = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'] as const;

/** `target_session_attrs`: the kind of server that is wanted. */
export type SessionAttributes = (typeof sessionAttributes)[number];

/** A host. */
export interface DatabaseHost {
  /** How to connect, in the order of attempts: two URIs where sslmode allows a connection with and without TLS. */
  uris: readonly string[];
}

export interface DatabaseUri {
  /** In the order of the URI, without parameters that the driver does not support. */
  hosts: readonly DatabaseHost[];
  /** Undefined when the URI does not say. */
  wanted: SessionAttributes | undefined;
  /** Undefined when the URI does not say. */
  connectTimeoutMs: number | undefined;
}

interface HostPort {
  host: string;
  port: string;
}

const shape =
  /^postgres(?:ql)?:\/\/(?:(?<user>[^/?#]*)@)?(?<hosts>[^@/?#]*)(?:\/(?<database>[^?#]*))?(?:\?(?<query>[^#]*))?$/;
const hostShape = /^(?<host>\[[\da-fA-F:.%]+\]|[^:[\]]*)(?::(?<port>\d*))?$/;

/** Returns a problem when the text is not a PostgreSQL URI. Adds the `extra` parameters, and appends `options` to existing ones. */
export const parseDatabaseUri = (
  text: string,
  extra: { options?: string } = {},
): DatabaseUri | { problem: string } => {
  const parts = shape.exec(text)?.groups;
  if (!parts) return { problem: 'is not a PostgreSQL URI' };
  const parameters = new URLSearchParams(parts['query'] ?? '');
  const hosts = readHosts(parts['hosts'] ?? '', take(parameters, 'host'), take(parameters, 'port'));
  if ('problem' in hosts) return hosts;
  const wanted = take(parameters, 'target_session_attrs');
  if (wanted !== undefined && !isAttribute(wanted))
    return { problem: `has a target_session_attrs that is none of ${sessionAttributes.join(', ')}` };
  const timeout = take(parameters, 'connect_timeout');
  if (timeout !== undefined && !/^\d{1,6}$/.test(timeout))
    return { problem: 'has a connect_timeout that is no number of seconds' };
  const database = take(parameters, 'dbname') ?? decode(parts['database'] ?? '');
  if (database === undefined) return { problem: 'has a database name that is not percent-encoded' };
  if (extra.options !== undefined) {
    const given = parameters.get('options');
    parameters.set('options', given === null ? extra.options : `${given} ${extra.options}`);
  }
  const user = parts['user'] === undefined ? '' : `${parts['user']}@`;
  const attempts = tlsAttempts(parameters);
  if ('problem' in attempts) return attempts;
  const toHost = ({ host, port }: HostPort): DatabaseHost => ({
    // As in libpq, connections to a socket have no TLS.
    uris: (host.startsWith('/') ? [{ sslmode: 'disable' }] : attempts.list).map((tls) =>
      toUri(user, database, host, port, withTls(parameters, tls)),
    ),
  });
  const uris = hosts.list.map(toHost);
  if (!uris.every((one) => one.uris.every((uri) => URL.canParse(uri.replace('@/', '@localhost/')))))
    return { problem: 'is not a URI that can be read' };
  const seconds = Number(timeout ?? 0);
  return { hosts: uris, wanted, connectTimeoutMs: seconds > 0 ? seconds * 1_000 : undefined };
};

const isAttribute = (text: string): text is SessionAttributes =>
  (sessionAttributes as readonly string[]).includes(text);

const tlsModes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'];

/** Parameters of the driver for one attempt to connect. */
type TlsParameters = Readonly<Record<string, string>>;

const plain: TlsParameters = { sslmode: 'disable' };

/** Removes `sslmode` and `sslrootcert`. Returns the attempts to connect that libpq makes for them, in their order. */
const tlsAttempts = (parameters: URLSearchParams): { list: TlsParameters[] } | { problem: string } => {
  const sslmode = take(parameters, 'sslmode');
  const named = take(parameters, 'sslrootcert');
  // `system` means the certificates that Node has anyway.
  const sslrootcert = named === 'system' ? undefined : named;
  const root: TlsParameters = sslrootcert === undefined ? {} : { sslrootcert };
  if (sslmode === undefined) return { list: [root] };
  if (!tlsModes.includes(sslmode))
    return { problem: `has an sslmode that is none of ${tlsModes.join(', ')}` };
  if (named === 'system' && sslmode !== 'verify-full')
    return { problem: 'has sslrootcert=system, which needs sslmode=verify-full' };
  if (sslmode === 'verify-ca' && sslrootcert === undefined)
    return { problem: 'has sslmode=verify-ca, which needs the certificate of the authority in sslrootcert' };
  // The driver gives these names other meanings, unless an option selects those of libpq.
  const tls = (mode: string): TlsParameters => ({ ...root, sslmode: mode, uselibpqcompat: 'true' });
  if (sslmode === 'disable') return { list: [plain] };
  if (sslmode === 'allow') return { list: [plain, tls('require')] };
  if (sslmode === 'prefer') return { list: [tls('require'), plain] };
  return { list: [tls(sslmode)] };
};

const withTls = (parameters: URLSearchParams, tls: TlsParameters): URLSearchParams =>
  new URLSearchParams([...parameters, ...Object.entries(tls)]);

const take = (parameters: URLSearchParams, name: string): string | undefined => {
  const value = parameters.get(name) ?? undefined;
  parameters.delete(name);
  return value;
};

const decode = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined; // a lone percent sign
  }
};

/** Hosts in parameters override those before the path, as in libpq. */
const readHosts = (
  authority: string,
  hostParameter: string | undefined,
  portParameter: string | undefined,
): { list: HostPort[] } | { problem: string } => {
  const list: HostPort[] = [];
  for (const entry of authority.split(',')) {
    const groups = hostShape.exec(entry)?.groups;
    const host = groups && decode((groups['host'] ?? '').replace(/^\[(.*)\]$/, '$1'));
    if (host === undefined) return { problem: 'names a host or a port that cannot be read' };
    list.push({ host, port: groups?.['port'] ?? '' });
  }
  const hosts = hostParameter?.split(',').map((host, at) => ({ host, port: list[at]?.port ?? '' })) ?? list;
  const ports = portParameter?.split(',');
  if (ports && ports.length !== 1 && ports.length !== hosts.length)
    return { problem: `names ${hosts.length} hosts and ${ports.length} ports` };
  const all = hosts.map(({ host, port }, at) => ({
    host,
    port: (ports?.length === 1 ? ports[0] : ports?.[at]) ?? port,
  }));
  const isSound = all.every(({ port }) => /^\d{0,5}$/.test(port) && Number(port) <= 65_535);
  return isSound ? { list: all } : { problem: 'names a port that is none' };
};

const toUri = (
  user: string,
  database: string,
  host: string,
  port: string,
  parameters: URLSearchParams,
): string => {
  const own = new URLSearchParams(parameters);
  if (host !== '') own.set('host', host);
  if (port !== '') own.set('port', port);
  const query = own.size > 0 ? `?${own.toString()}` : '';
  // The host is in the parameter. Without one the driver would use PGHOST.
  const authority = host === '' ? '' : 'localhost';
  return `postgresql://${user}${authority}/${encodeURIComponent(database)}${query}`;
};
