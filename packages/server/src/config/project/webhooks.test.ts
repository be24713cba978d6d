import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Mistake } from './mistake.ts';
import { WebhooksSection } from './svc-json-schema.ts';
import { readWebhookRules } from './webhooks.ts';

const read = (section: unknown, env: Record<string, string> = {}, compat = false) => {
  const mistakes: Mistake[] = [];
  const rules = readWebhookRules({
    section: WebhooksSection.parse(section),
    compat,
    env,
    where: (path) => path.join('.'),
    mistakes,
  });
  return {
    rules,
    mistakes,
    headers: Object.fromEntries([...rules.headers, ...rules.secretHeaders].map(([k, v]) => [k, v.reveal()])),
  };
};

describe('the webhooks section', () => {
  it('may be absent: http and https on the usual ports, never this machine', () => {
    const { rules, mistakes } = read({});
    expect(mistakes).toEqual([]);
    expect(rules.headers.size).toBe(0);
    expect(rules.url).toEqual({ httpsOnly: false, loopback: false });
  });

  it('restricts and extends the allowed URLs', () => {
    const url = {
      require_https: true,
      allowed_domains: ['*.Example.com'],
      allowed_ports: [8443],
      max_url_length: 100,
      disable_loopback: false,
    };
    expect(read({ url }).rules.url).toEqual({
      httpsOnly: true,
      domains: ['*.example.com'],
      ports: [8443],
      lengthMax: 100,
      loopback: true,
    });
  });

  it('replaces variables with the prefix in headers, and never prints them', () => {
    const env = { SVC_WEBHOOK_TOKEN: 'hunter2', SVC_WEBHOOK_B: '$&' };
    const { headers, rules, mistakes } = read(
      {
        secret_domains: ['hooks.example.com'],
        headers: {
          Authorization: 'Bearer ${{ env.SVC_WEBHOOK_TOKEN }}',
          'x-two': '${{env.SVC_WEBHOOK_B}}-b',
        },
      },
      env,
    );
    expect(mistakes).toEqual([]);
    expect(headers).toEqual({ authorization: 'Bearer hunter2', 'x-two': '$&-b' });
    expect(inspect(rules, { depth: 9 })).not.toContain('hunter2');
  });

  const secret_domains = ['Hooks.example.com'];
  const env = { SVC_WEBHOOK_TOKEN: 'hunter2' };

  it.each([
    ['a variable', { 'x-any': '${{ env.SVC_WEBHOOK_TOKEN }}' }],
    ['a credential by its name', { Authorization: 'Bearer written-down' }],
    ['a key', { 'X-Api-Key': 'written-down' }],
    ['a cookie', { cookie: 'a=b' }],
  ])('rejects a secret header that would be sent to any URL: %s', (_, headers) => {
    const { mistakes } = read({ headers }, env);
    expect(mistakes).toHaveLength(1);
    expect(mistakes[0]?.problem).toContain('would be sent to any URL that a client chooses');
    expect(mistakes[0]?.remedy).toMatch(/webhooks\.secret_domains.*webhooks\.url\.allowed_domains/);
  });

  it('allows secret headers for listed hosts over https', () => {
    const headers = { 'x-token': '${{ env.SVC_WEBHOOK_TOKEN }}', 'x-from': 'svc' };
    const { rules, mistakes } = read({ headers, secret_domains, url: { allowed_domains: ['a.test'] } }, env);
    expect(mistakes).toEqual([]);
    expect([...rules.headers.keys()]).toEqual(['x-from']);
    expect([...rules.secretHeaders.keys()]).toEqual(['x-token']);
    expect(rules.secretDomains).toEqual(['hooks.example.com']);
    expect(rules.url).toMatchObject({ domains: ['a.test'], httpsDomains: ['hooks.example.com'] });
    const limited = read({ headers, url: { allowed_domains: ['*.A.test'] } }, env);
    expect(limited.rules.secretDomains).toEqual(['*.a.test']);
    expect(read({ headers: { 'x-from': 'svc' } }).mistakes).toEqual([]);
  });

  it('accepts another prefix, and the stock prefix in stock files', () => {
    expect(
      read({ env_prefix: 'HOOK_', headers: { a: '${{ env.HOOK_A }}' }, secret_domains }, { HOOK_A: '1' })
        .headers,
    ).toEqual({
      a: '1',
    });
    const stock = { headers: { a: '${{ env.LG_WEBHOOK_A }}' }, url: { allowed_domains: secret_domains } };
    expect(read(stock, { LG_WEBHOOK_A: '1' }, true).headers).toEqual({ a: '1' });
  });

  it.each([
    [{ a: '${{ env.DATABASE_URI }}' }, 'DATABASE_URI may not be sent'],
    [{ a: '${{ env.SVC_WEBHOOK_SECRET }}' }, 'SVC_WEBHOOK_SECRET may not be sent'],
    [{ a: '${{ env.SVC_WEBHOOK_NONE }}' }, 'SVC_WEBHOOK_NONE is not set'],
    [{ a: '${{ secrets.A }}' }, 'invalid template'],
    [{ a: '${{ env.SVC_WEBHOOK_LINES }}' }, 'characters that headers cannot contain'],
    [{ 'a b': 'x' }, 'not the name of a header'],
    [{ 'Content-Length': '1' }, 'sets itself'],
    [{ 'svc-signature': 'x' }, 'sets itself'],
    [{ a: 'x', A: 'y' }, 'occurs twice'],
  ])('with headers %j is rejected', (headers, problem) => {
    const env = { DATABASE_URI: 'x', SVC_WEBHOOK_SECRET: 'x', SVC_WEBHOOK_LINES: 'a\r\nb: c' };
    const { mistakes } = read({ headers }, env);
    expect(mistakes.map((mistake) => mistake.problem).join()).toContain(problem);
    expect(mistakes[0]?.where).toMatch(/^webhooks\.headers\./);
  });
});
