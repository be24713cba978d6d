// A fetch for libraries that send requests themselves. Each request passes the egress guard, follows no redirect, and is bounded in time and
// bytes.
import { Agent, fetch as undiciFetch } from 'undici';
import { timeLimit } from '../abort.ts';
import type { EgressGuard, EgressRules } from './guard.ts';

export interface FetchLimits {
  timeoutMs: number;
  responseBytesMax: number;
}

/** The part of a request that these libraries set. */
export interface FetchInit {
  method?: string;
  headers?: Record<string, string>;
  body?: string | URLSearchParams | Uint8Array | null | undefined;
  signal?: AbortSignal | undefined;
}

/** Throws EgressRefused, and the errors of fetch. */
export const guardedFetch =
  (guard: EgressGuard, rules: EgressRules, { timeoutMs, responseBytesMax }: FetchLimits) =>
  async (
    input: string,
    { method = 'GET', headers = {}, body, signal }: FetchInit = {},
  ): Promise<Response> => {
    const { url, lookup } = guard.check(input, rules);
    // A shared agent could reuse a connection that was made without this lookup.
    const dispatcher = new Agent({ connect: { lookup }, maxResponseSize: responseBytesMax, pipelining: 0 });
    using limit = timeLimit(timeoutMs, signal);
    try {
      const response = await undiciFetch(url, {
        method,
        headers,
        body: body ?? null,
        redirect: 'manual',
        signal: limit.signal,
        dispatcher,
      });
      const bytes = await response.arrayBuffer();
      const isWithoutBody = bytes.byteLength === 0;
      return new Response(isWithoutBody ? null : bytes, {
        status: response.status,
        headers: [...response.headers],
      });
    } finally {
      await dispatcher.destroy();
    }
  };
