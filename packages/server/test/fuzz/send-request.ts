// Sends a request as it is, and says what is wrong with the answer.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { type Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FuzzRequest } from './fuzz-requests.ts';

export interface FuzzAnswer {
  /** 0: the connection ended without an answer. */
  status: number;
  headers: IncomingHttpHeaders;
  /** Its beginning, for streams. */
  text: string;
  /** What ended it before there was a head. */
  error?: string;
}

/** Streams go on until their client leaves. */
const readMs = 400;
const headMs = 60_000;
const charsMax = 300_000;

export const sendRequest = (url: string, request: FuzzRequest, agent: Agent): Promise<FuzzAnswer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const { method, path, headers, body } = request;
    const length = body === undefined ? {} : { 'content-length': String(body.length) };
    const sent = httpRequest({ hostname, port, method, path, headers: { ...length, ...headers }, agent });
    const late = setTimeout(() => sent.destroy(new Error(`no answer in ${headMs} ms`)), headMs);
    sent.on('error', (error) => {
      clearTimeout(late);
      resolve({ status: 0, headers: {}, text: '', error: error.message });
    });
    sent.on('response', (response) => {
      clearTimeout(late);
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
      clearTimeout(late);
      socket.destroy();
      reject(new Error(`${method} ${path} upgraded the connection`));
    });
    sent.end(body);
  });

/** Why the answer is none that is documented; undefined when it is. */
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
    const body = JSON.parse(text) as { code?: unknown; message?: unknown };
    if (typeof body.code === 'string' && typeof body.message === 'string') return undefined;
  } catch {
    // Said below.
  }
  return `${status} without the body that is documented for errors`;
};

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** A command that sends the request again. */
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
