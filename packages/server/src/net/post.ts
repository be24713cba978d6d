// One request, sent where a guard has said it may go. No redirect is followed, no proxy asked, no connection kept;
// an answer is a status, and its body is read only so that the other side can finish saying it.
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { onAbort } from '../abort.ts';
import type { EgressTarget } from './guard.ts';

export interface PostLimits {
  /** For everything: resolving, connecting, sending, and the answer to its last byte. */
  timeoutMs: number;
  /** An answer is cut off after that. */
  responseBytesMax: number;
  signal?: AbortSignal;
}

export class PostTimeout extends Error {
  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms`);
    this.name = 'PostTimeout';
  }
}

/** The status counts as soon as it is there, whatever becomes of the body after it. */
export const post = (
  { url, lookup }: EgressTarget,
  body: string,
  headers: Readonly<Record<string, string>>,
  { timeoutMs, responseBytesMax, signal }: PostLimits,
): Promise<{ status: number }> =>
  new Promise((resolve, reject) => {
    const bytes = Buffer.from(body);
    const send = url.protocol === 'https:' ? requestHttps : requestHttp;
    const request = send(url, {
      method: 'POST',
      // A shared agent could lend us a connection that was made without our lookup.
      agent: false,
      lookup,
      rejectUnauthorized: true,
      headers: { ...headers, 'content-length': bytes.length },
    });
    let status: number | undefined;
    let stopWaiting: (() => void) | undefined;
    const settle = (error?: Error): void => {
      clearTimeout(timer);
      stopWaiting?.();
      request.destroy();
      if (status === undefined) reject(error ?? new Error('The connection closed without an answer'));
      else resolve({ status });
    };
    const timer = setTimeout(() => settle(new PostTimeout(timeoutMs)), timeoutMs);
    request.on('error', settle);
    request.on('close', () => settle());
    request.on('response', (response) => {
      status = response.statusCode;
      let received = 0;
      response.on('data', (chunk: Buffer) => {
        received += chunk.length;
        if (received > responseBytesMax) settle();
      });
      response.on('end', () => settle());
      response.on('error', settle);
    });
    if (signal) stopWaiting = onAbort(signal, () => settle(new Error('The request was given up')));
    if (!request.destroyed) request.end(bytes);
  });
