import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { pauseMs, ServerReach } from './server-reach.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A server that can be stopped, and a count of what was sent to it. */
const startServer = () => {
  const server = { isUp: true, requests: 0, probes: 0 };
  const answer = (): Response => {
    if (!server.isUp) throw new TypeError('Failed to fetch');
    return new Response('{}');
  };
  const reach = new ServerReach({
    fetch: async (input) => {
      server.requests += 1;
      if (input === '/blocked') throw new TypeError('Failed to fetch');
      return answer();
    },
    probe: async () => {
      server.probes += 1;
      answer();
    },
    random: () => 0,
  });
  return { server, reach };
};

it('pauses grow to the longest one, shortened by up to a half', () => {
  expect([1, 2, 3, 4, 5, 9].map((failures) => pauseMs(failures, 0))).toEqual([
    1_000, 2_000, 4_000, 8_000, 15_000, 15_000,
  ]);
  expect(pauseMs(1, 1)).toBe(500);
});

it('sends one probe at a time while the server is away, however many requests have failed', async () => {
  const { server, reach } = startServer();
  server.isUp = false;
  const failed = await Promise.allSettled(
    ['/a', '/b', '/c'].map((path) => reach.fetch(path, { method: 'POST' })),
  );
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(reach.isAway()).toBe(true);
  // At 0, 1, 3, 7 and 15 seconds.
  expect(server).toMatchObject({ requests: 3, probes: 5 });
});

it('holds streams until the server is back, fails other reads, and sends changes at once', async () => {
  const { server, reach } = startServer();
  server.isUp = false;
  await expect(reach.fetch('/a')).rejects.toThrow('Failed to fetch');
  await vi.advanceTimersByTimeAsync(0);
  const stop = new AbortController();
  const [read, left] = [reach.fetch('/a/stream?last=1'), reach.fetch('/b/stream', { signal: stop.signal })];
  const changes = reach.fetch('/runs/changes');
  const leaves = expect(left).rejects.toThrow('left');
  stop.abort(new Error('left'));
  await leaves;
  await expect(reach.fetch('/c')).rejects.toThrow('Failed to fetch');
  await expect(reach.fetch('/c', { method: 'DELETE' })).rejects.toThrow('Failed to fetch');
  expect(server.requests).toBe(2);
  server.isUp = true;
  await vi.advanceTimersByTimeAsync(15_000);
  expect((await read).ok).toBe(true);
  expect((await changes).ok).toBe(true);
  expect(reach.isAway()).toBe(false);
});

it('reports the return when another request reaches the server before the probe', async () => {
  const { server, reach } = startServer();
  const reported: boolean[] = [];
  reach.subscribe(() => reported.push(reach.isAway()));
  server.isUp = false;
  await expect(reach.fetch('/a')).rejects.toThrow();
  await vi.advanceTimersByTimeAsync(0);
  server.isUp = true;
  await reach.fetch('/a', { method: 'POST' });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(reported).toEqual([true, false]);
  expect(server.probes).toBe(1);
  server.isUp = false;
  await expect(reach.fetch('/a')).rejects.toThrow();
  await vi.advanceTimersByTimeAsync(0);
  expect(reach.isAway()).toBe(true);
});

it('does not count the server as away when one request is blocked', async () => {
  const { server, reach } = startServer();
  await expect(reach.fetch('/blocked')).rejects.toThrow();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(reach.isAway()).toBe(false);
  expect(server.probes).toBe(1);
});
