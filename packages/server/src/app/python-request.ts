// A request, as it is sent to a Python process.

/** The parts of a request that an ASGI scope is made of. */
export const requestFields = (request: Request): Record<string, unknown> => {
  const { pathname, search, protocol, hostname, port } = new URL(request.url);
  return {
    method: request.method,
    path: decoded(pathname),
    raw_path: pathname,
    query: search.slice(1),
    headers: [...request.headers],
    path_params: {},
    scheme: protocol.slice(0, -1),
    host: hostname,
    port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
  };
};

const decoded = (path: string): string => {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // not UTF-8
  }
};
