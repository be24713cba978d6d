// A comma-separated list of hosts, with or without ports: `minio.local:9000, 10.0.0.7, [::1]:8080`.

export interface AllowedHost {
  /** As in `URL.hostname`: lower case, an address in its shortest form, IPv6 in brackets. */
  readonly host: string;
  /** Undefined: every port. */
  readonly port: number | undefined;
}

/** Undefined when the text is not such a list. */
export function parseHostList(text: string): AllowedHost[] | undefined {
  const hosts = text.split(',').map((entry) => parseHost(entry.trim()));
  return hosts.every((host) => host !== undefined) ? hosts : undefined;
}

export function formatHostList(hosts: readonly AllowedHost[]): string {
  return hosts.map(({ host, port }) => (port === undefined ? host : `${host}:${port}`)).join(', ');
}

const shapes = [
  /^\[(?<ip>[0-9a-f:.]+)\](?::(?<port>\d{1,5}))?$/i,
  /^(?<ip>[0-9a-f]*:[0-9a-f:.]*:[0-9a-f:.]*)$/i,
  /^(?<name>[^\s:/?#@[\]\\]+)(?::(?<port>\d{1,5}))?$/,
];

function parseHost(entry: string): AllowedHost | undefined {
  const groups = shapes.map((shape) => shape.exec(entry)?.groups).find((found) => found !== undefined);
  if (!groups) return undefined;
  const { ip, name, port } = groups as { ip?: string; name?: string; port?: string };
  const number = port === undefined ? undefined : Number(port);
  if (number !== undefined && (number < 1 || number > 65_535)) return undefined;
  // The URL parser normalises the host, so that it can be compared with the host of a URL.
  const url = `http://${ip === undefined ? name : `[${ip}]`}/`;
  return URL.canParse(url) ? { host: new URL(url).hostname, port: number } : undefined;
}
