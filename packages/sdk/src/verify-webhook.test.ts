import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifyWebhook } from './verify-webhook.ts';

const secret = 'a secret of some length';
const now = (): number => Math.floor(Date.now() / 1_000);
const sign = (body: string, seconds = now(), key = secret): string =>
  `t=${seconds},v1=${createHmac('sha256', key).update(`${seconds}.${body}`).digest('hex')}`;

describe('verifyWebhook', () => {
  it('accepts a body that was signed with the secret recently', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), async (body) => {
        expect(await verifyWebhook(secret, sign(body), body)).toBe(true);
      }),
    );
    expect(await verifyWebhook(secret, sign('{}', now() - 200), '{}')).toBe(true);
  });

  it.each<[string, string | null | undefined, string]>([
    ['another body', sign('{}'), '{ }'],
    ['another secret', sign('{}', now(), 'other'), '{}'],
    ['another time', sign('{}').replace(/t=\d+/, `t=${now() - 1}`), '{}'],
    ['an old signature', sign('{}', now() - 400), '{}'],
    ['a signature from the future', sign('{}', now() + 400), '{}'],
    ['no header', undefined, '{}'],
    ['a header that is null', null, '{}'],
    ['an empty header', '', '{}'],
    ['a header without a signature', `t=${now()}`, '{}'],
    ['a truncated signature', sign('{}').slice(0, -2), '{}'],
    ['a signature with extra characters', `${sign('{}')}00`, '{}'],
    ['a signature of another version', sign('{}').replace('v1', 'v0'), '{}'],
  ])('rejects %s', async (_, header, body) => {
    expect(await verifyWebhook(secret, header, body)).toBe(false);
  });

  it('accepts signatures up to the age that the receiver allows', async () => {
    expect(await verifyWebhook(secret, sign('{}', now() - 400), '{}', 500)).toBe(true);
    expect(await verifyWebhook(secret, sign('{}', now() - 10), '{}', 5)).toBe(false);
  });
});
