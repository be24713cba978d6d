// Sends one POST to a target that passed the guard. Follows no redirect, uses no proxy and keeps no connection. The result is the
// status; the body of the response is read and dropped, so that the receiver can finish sending.
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { onAbort } from '../abort.ts';
import type { EgressTarget } from './guard.ts';

export interface PostLimits {
  /** From the DNS query to the last byte of the response. */
  timeoutMs: number;
  /** A longer response is cut. */
  responseBytesMax: number;
  signal?: AbortSignal;
}

export class PostTimeout extends Error {
  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms`);
    this.name = 'PostTimeout';
  }
}

/** Resolves once the status is known, even if the body then fails. */
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
      // A shared agent could reuse a connection that was made without this lookup.
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
      if (status === undefined) reject(error ?? new Error('The connection closed without a response'));
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
    if (signal) stopWaiting = onAbort(signal, () => settle(new Error('The request was aborted')));
    if (!request.destroyed) request.end(bytes);
  });
