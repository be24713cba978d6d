// Sends a request unchanged, and reports an undocumented response.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { type Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FuzzRequest } from './fuzz-requests.ts';

export interface FuzzAnswer {
  /** 0: the connection ended without a response. */
  status: number;
  headers: IncomingHttpHeaders;
  /** The beginning of the body, for streams. */
  text: string;
  /** The error that ended the connection before a response. */
  error?: string;
}

/** Streams end when their client disconnects. */
const readMs = 400;
const headMs = 60_000;
const charsMax = 300_000;

export const sendRequest = (url: string, request: FuzzRequest, agent: Agent): Promise<FuzzAnswer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const { method, path, headers, body } = request;
    const length = body === undefined ? {} : { 'content-length': String(body.length) };
    const sent = httpRequest({ hostname, port, method, path, headers: { ...length, ...headers }, agent });
    const timer = setTimeout(() => sent.destroy(new Error(`no answer in ${headMs} ms`)), headMs);
    sent.on('error', (error) => {
      clearTimeout(timer);
      resolve({ status: 0, headers: {}, text: '', error: error.message });
    });
    sent.on('response', (response) => {
      clearTimeout(timer);
      let text = '';
      const end = (): void => {
        clearTimeout(leave);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        if (!response.complete) sent.destroy();
      };
      const leave = setTimeout(end, readMs);
      response.setEncoding('utf8');
      response.on('data', (data: string) => {
        if (text.length < charsMax) text += data;
      });
      response.on('end', end).on('error', end).on('close', end);
    });
    sent.on('upgrade', (_, socket) => {
      clearTimeout(timer);
      socket.destroy();
      reject(new Error(`${method} ${path} upgraded the connection`));
    });
    sent.end(body);
  });

/** The error of a JSON-RPC response. */
const isRpcError = (error: unknown): boolean => {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return Number.isInteger(code) && typeof message === 'string';
};

/** The reason why the response is not documented; undefined when it is. */
export const faultOf = (
  request: FuzzRequest,
  { status, headers, text, error }: FuzzAnswer,
): string | undefined => {
  if (status === 0) return `the connection ended without an answer: ${error ?? ''}`;
  if (status === 503 && headers['retry-after'] === undefined) return '503 without Retry-After';
  if (status === 500 || (status > 500 && !request.documented.has(status)))
    return `${status} is not documented for ${request.operation}`;
  if (status < 400 || request.method === 'HEAD') return undefined;
  if (headers['content-type']?.includes('protobuf')) return undefined;
  try {
    const body = JSON.parse(text) as {
      code?: unknown;
      message?: unknown;
      jsonrpc?: unknown;
      error?: unknown;
    };
    if (typeof body.code === 'string' && typeof body.message === 'string') return undefined;
    if (body.jsonrpc === '2.0' && isRpcError(body.error)) return undefined;
  } catch {
    // Reported below.
  }
  return `${status} without the body that is documented for errors`;
};

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** A command that repeats the request. */
export const toCommand = (url: string, { method, path, headers, body }: FuzzRequest): string => {
  const list = Object.entries(headers).map(
    ([name, value]) => ` -H ${quoted(`${name}${value === '' ? ';' : `: ${value}`}`)}`,
  );
  const command = `curl -i --path-as-is -X ${method} ${quoted(url + path)}${list.join('')}`;
  if (body === undefined) return command;
  if (body.length === 0) return `${command} --data-binary ''`;
  const file = join(mkdtempSync(join(tmpdir(), 'svc-fuzz-')), 'body');
  writeFileSync(file, body);
  return `${command} --data-binary @${file}`;
};
