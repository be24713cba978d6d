import type { WebhookDelivery } from '@svc/sdk';
import { expect, it } from 'vitest';
import { failingOf, unexaminedText } from './failing-webhooks.tsx';

const nowMs = Date.parse('2026-01-08T12:00:00Z');

const delivery = (hoursAgo: number, error: string | null): WebhookDelivery => {
  const at = new Date(nowMs - hoursAgo * 3_600_000).toISOString();
  return { delivery_id: 'delivery', error, created_at: at, ended_at: at } as WebhookDelivery;
};

const many = (count: number, ...[hoursAgo, error]: Parameters<typeof delivery>): WebhookDelivery[] =>
  Array.from({ length: count }, () => delivery(hoursAgo, error));

it('finds what has failed in the last day, and what is retried after an error', () => {
  const failed = failingOf('failed', { deliveries: [delivery(23, 'a'), delivery(25, 'b')] }, nowMs);
  expect(failed.deliveries.map(({ error }) => error)).toEqual(['a']);
  const pending = failingOf('pending', { deliveries: [delivery(1, null), delivery(25, 'c')] }, nowMs);
  expect(pending.deliveries.map(({ error }) => error)).toEqual(['c']);
  expect(unexaminedText([failed, pending])).toBeUndefined();
});

it('does not read a page again that the server has ended early, and says that it has ended', () => {
  const read = failingOf('failed', { deliveries: [], next: 'cursor' }, nowMs);
  expect(read).toMatchObject({ hasMore: false, isExpensive: true });
  expect(unexaminedText([read])).toMatch(/^Not all webhook deliveries were examined/);
});

it('says that deliveries behind a full page were not examined', () => {
  const read = failingOf('pending', { deliveries: many(100, 1, null), next: 'cursor' }, nowMs);
  expect(read).toMatchObject({ hasMore: false, isExpensive: false });
  expect(unexaminedText([read])).toMatch(/^Only the newest 100 webhook deliveries/);
});

it('needs no more than one page when its oldest deliveries have failed days ago', () => {
  const deliveries = [delivery(1, 'a'), ...many(99, 72, 'b')];
  const read = failingOf('failed', { deliveries, next: 'cursor' }, nowMs);
  expect(read).toMatchObject({ hasMore: false, isExpensive: false });
  expect(unexaminedText([read])).toBeUndefined();
});

it('reports that there are more when all deliveries of a page are failing', () => {
  const read = failingOf('failed', { deliveries: many(100, 1, 'a'), next: 'cursor' }, nowMs);
  expect(read.hasMore).toBe(true);
});
