// Sends requests byte by byte, because `fetch` normalizes what these tests are about.
import { connect, type Socket } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

export interface WireRequest {
  method?: string;
  path?: string;
  /** The server's own `Host` is added when it is not among them. */
  headers?: readonly (readonly [name: string, value: string])[];
  body?: string;
}

export interface WireResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Sends exactly these headers; returns the response when the server closes the connection. */
export const send = async (server: { url: string }, request: WireRequest): Promise<WireResponse> =>
  parse(await exchange(server, format(server, request, [['connection', 'close']])));

/** Sends exactly these bytes; returns all bytes of the response. */
export const exchange = async (server: { url: string }, bytes: string): Promise<string> => {
  const socket = open(server);
  socket.write(bytes, 'latin1');
  return text(socket);
};

/** Opens a streaming response; returns its head and its socket. */
export const openStream = async (
  server: { url: string },
  request: WireRequest,
): Promise<{ status: number; headers: Record<string, string>; socket: Socket }> => {
  const socket = open(server).on('error', () => undefined);
  socket.write(format(server, request, []));
  const head = await new Promise<string>((resolve, reject) => {
    let seen = '';
    socket.on('data', (data: Buffer) => {
      seen += data.toString();
      if (seen.includes('\r\n\r\n')) resolve(seen);
    });
    socket.once('close', () => reject(new Error(`closed after ${JSON.stringify(seen)}`)));
  });
  return { ...parse(head), socket };
};

const open = ({ url }: { url: string }): Socket => {
  const { hostname, port } = new URL(url);
  return connect(Number(port), hostname.replaceAll(/[[\]]/g, ''));
};

const format = (
  { url }: { url: string },
  { method = 'GET', path = '/ok', headers = [], body }: WireRequest,
  extra: readonly (readonly [string, string])[],
): string => {
  const host = headers.some(([name]) => name.toLowerCase() === 'host') ? [] : [['host', new URL(url).host]];
  const length = body === undefined ? [] : [['content-length', String(Buffer.byteLength(body))]];
  const lines = [...host, ...headers, ...extra, ...length].map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`;
};

const parse = (answer: string): WireResponse => {
  const end = answer.indexOf('\r\n\r\n');
  const [first = '', ...lines] = answer.slice(0, end).split('\r\n');
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return {
    status: Number(first.split(' ')[1]),
    headers: Object.fromEntries(headers),
    body: answer.slice(end + 4),
  };
};

/** A svc.json with these sections and some of the tests' graphs. */
export const projectWith = async (
  sections: Record<string, unknown>,
): Promise<AsyncDisposable & { file: string }> => {
  const dir = await mkdtemp(join(tmpdir(), 'svc-edge-'));
  const file = join(dir, 'svc.json');
  const graph = (name: string): string => fileURLToPath(new URL(`../graphs/${name}`, import.meta.url));
  const graphs = {
    chat: graph('chat.ts:chat'),
    barrier: graph('barrier.ts:barrier'),
    probe: graph('probe.ts:probe'),
  };
  await writeFile(file, JSON.stringify({ graphs, ...sections }));
  return { file, [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }) };
};
