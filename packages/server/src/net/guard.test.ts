import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addressFault,
  EgressGuard,
  EgressRefused,
  type EgressRules,
  type EgressTarget,
  type Resolve,
} from './guard.ts';
import { parseHostList } from './host-list.ts';

const guardOf = (allow = '', resolve?: Resolve) =>
  new EgressGuard(allow === '' ? [] : parseHostList(allow), resolve);

const look = (target: EgressTarget, all: boolean): Promise<string | LookupAddress[]> =>
  new Promise((resolve, reject) => {
    target.lookup(target.url.hostname, { all }, (error, found) => (error ? reject(error) : resolve(found)));
  });

const rejected: [string, RegExp][] = [
  ['http://127.0.0.1/', /address/],
  ['http://127.1/', /address/],
  ['http://2130706433/', /address/],
  ['http://0x7f.1/', /address/],
  ['http://0177.0.0.1/', /address/],
  ['http://①②⑦.0.0.1/', /address/],
  ['http://127%2e0.0.1/', /address/],
  ['http:\\\\127.0.0.1/', /address/],
  ['http:127.0.0.1', /address/],
  ['http://127.0.0.1./', /address/],
  ['http://0/', /address/],
  ['http://0.0.0.0/', /address/],
  ['http://[::]/', /address/],
  ['http://[::1]/', /address/],
  ['http://[::ffff:7f00:1]/', /address/],
  ['http://[::ffff:127.0.0.1]/', /address/],
  ['http://[64:ff9b::7f00:1]/', /address/],
  ['http://[2002:7f00:1::]/', /address/],
  ['http://[2001:0:1::1]/', /address/],
  ['http://[fd00::1]/', /address/],
  ['http://[fe80::1]/', /address/],
  ['http://169.254.169.254/latest/meta-data', /address/],
  ['http://169.254.169.254./', /address/],
  ['http://10.0.0.1/', /address/],
  ['http://172.16.0.1/', /address/],
  ['http://192.168.1.1/', /address/],
  ['http://100.64.0.1/', /address/],
  ['http://224.0.0.1/', /address/],
  ['http://localhost/', /machine or network/],
  ['http://LOCALHOST/', /machine or network/],
  ['http://a.localhost/', /machine or network/],
  ['http://host.docker.internal/', /machine or network/],
  ['http://metadata.google.internal/', /machine or network/],
  ['http://printer.local/', /machine or network/],
  ['http://localhost./', /dot/],
  ['http://localhost%2e/', /dot/],
  ['http://localhost../', /dot/],
  ['http://example.com./', /dot/],
  ['http://ok@127.0.0.1/', /user name/],
  ['https://user:pass@example.com/', /user name/],
  ['https://:pass@example.com/', /user name/],
  ['file:///etc/passwd', /https/],
  ['gopher://example.com/', /https/],
  ['data:text/plain,x', /https/],
  ['javascript:1', /https/],
  ['ws://example.com/', /https/],
  ['/hook', /absolute/],
  ['//example.com/hook', /absolute/],
  ['hook', /absolute/],
  ['example.com/hook', /absolute/],
  ['', /absolute/],
  ['http://', /absolute/],
  ['http://[fe80::1%25eth0]/', /absolute/],
  ['http://a b/', /absolute/],
  ['http://127.0.0.1;/', /letters/],
  ['http://a..b/', /letters/],
  ['https://example.com:8443/', /ports: 80, 443/],
  ['https://example.com:0/', /ports/],
  ['https://example.com:22/', /ports/],
  [`https://example.com/${'x'.repeat(8_192)}`, /characters/],
];

describe('a URL', () => {
  it.each(rejected.map((one) => [one[0].slice(0, 60), ...one] as const))(
    '%s is rejected',
    (_, text, reason) => {
      expect(() => guardOf().check(text)).toThrow(EgressRefused);
      expect(() => guardOf().check(text)).toThrow(reason);
    },
  );

  it.each([
    ['https://example.com/hook?a=1#frag', 'https://example.com/hook?a=1'],
    ['HTTP://EXAMPLE.com:80/', 'http://example.com/'],
    ['https://example.com:443/', 'https://example.com/'],
    ['http://example.com:443/', 'http://example.com:443/'],
    ['https://1.1.1.1/', 'https://1.1.1.1/'],
    ['https://[2606:4700::1111]/', 'https://[2606:4700::1111]/'],
    ['https://internal.example.com/', 'https://internal.example.com/'],
    ['https://notlocalhost/', 'https://notlocalhost/'],
  ])('%s is accepted', (text, href) => {
    expect(guardOf().check(text).url.href).toBe(href);
  });

  it.each<[string, EgressRules, RegExp | undefined]>([
    ['http://example.com/', { httpsOnly: true }, /https:\/\/$/],
    ['https://example.com/', { httpsOnly: true }, undefined],
    ['https://example.com:8443/', { ports: [8443] }, undefined],
    ['https://example.com/', { ports: [8443] }, /ports: 8443/],
    ['https://example.com/', { domains: ['example.com'] }, undefined],
    ['https://a.example.com/', { domains: ['example.com'] }, /domains/],
    ['https://a.example.com/', { domains: ['*.example.com'] }, undefined],
    ['https://example.com/', { domains: ['*.example.com'] }, /domains/],
    ['http://example.com/', { httpsDomains: ['example.com'] }, /must begin with https/],
    ['http://a.example.com/', { httpsDomains: ['*.example.com'] }, /must begin with https/],
    ['http://example.org/', { httpsDomains: ['example.com'] }, undefined],
    ['https://example.com/', { httpsDomains: ['example.com'] }, undefined],
    ['http://127.0.0.1:8080/', { httpsDomains: ['127.0.0.1'], loopback: true }, undefined],
    ['https://badexample.com/', { domains: ['*.example.com'] }, /domains/],
    ['https://example.com.evil.test/', { domains: ['*.example.com', 'example.com'] }, /domains/],
    ['https://example.com/long', { lengthMax: 10 }, /10 characters/],
    ['http://127.0.0.1:9000/', { loopback: true }, undefined],
    ['http://[::1]:9000/', { loopback: true }, undefined],
    ['http://localhost:9000/', { loopback: true }, undefined],
    ['http://localhost:9000/', { loopback: true, ports: [80] }, /ports/],
    ['http://example.com:9000/', { loopback: true }, /ports/],
    ['http://10.0.0.1/', { loopback: true }, /address/],
    ['http://host.docker.internal/', { loopback: true }, /network/],
  ])('%s is checked with the rules %j', (text, rules, reason) => {
    if (reason) expect(() => guardOf().check(text, rules)).toThrow(reason);
    else expect(guardOf().check(text, rules).url).toBeInstanceOf(URL);
  });

  it('with plain HTTP may need to be on the allow-list', () => {
    const guard = guardOf('minio.local:9000');
    const rules = { httpsUnlessAllowed: true };
    expect(guard.check('http://minio.local:9000/', rules).url.port).toBe('9000');
    expect(guard.check('https://example.com/', rules).url.hostname).toBe('example.com');
    expect(() => guard.check('http://example.com/', rules)).toThrow(/SVC_EGRESS_ALLOW/);
  });

  /** The metadata addresses of all known providers, in all IPv4 and IPv6 forms. */
  const metadata = [
    '169.254.169.254',
    '169.254.170.2',
    '169.254.170.23',
    '169.254.42.42',
    '169.254.0.23',
    '168.63.129.16',
    '192.80.8.124',
    '100.100.100.200',
    '192.0.0.192',
    '[fd00:ec2::254]',
    '[fd00:ec2::23]',
    '[fd20:ce::254]',
    '[fd00:c1::a9fe:a9fe]',
    '[fd00:42::42]',
    '[fd00:a9fe:a9fe::1]',
    '[fe80::a9fe:a9fe]',
    '[::ffff:a9fe:a9fe]',
    '[::ffff:168.63.129.16]',
    '[::ffff:0:168.63.129.16]',
    '[64:ff9b::a83f:8110]',
    '[64:ff9b:1::a83f:8110]',
    '[2002:a83f:8110::]',
  ];

  it.each(metadata)(
    'of a cloud metadata service (%s) is rejected, also when a name resolves to it',
    async (host) => {
      expect(() => guardOf().check(`http://${host}/`)).toThrow(/private or reserved/);
      expect(() => guardOf().check(`http://${host}/`, { loopback: true })).toThrow(/private or reserved/);
      const address = host.replaceAll(/[[\]]/g, '');
      const resolve: Resolve = () => Promise.resolve([{ address, family: isIP(address) }]);
      for (const guard of [guardOf('', resolve), guardOf('allowed.test', resolve)])
        await expect(look(guard.check('http://allowed.test/'), true)).rejects.toThrow(EgressRefused);
    },
  );

  it.each(['168.63.129.15', '168.63.129.17', '192.80.8.123'])(
    'next to a metadata address (%s) is accepted',
    (host) => {
      expect(guardOf().check(`http://${host}/`).url.hostname).toBe(host);
    },
  );

  it.each(metadata)('of a cloud metadata service (%s) is rejected even on the allow-list', (host) => {
    expect(() => guardOf(host).check(`http://${host}/`)).toThrow(/private or reserved/);
  });

  it('on the allow-list is accepted, for that host and port only', () => {
    const guard = guardOf('minio.local:9000,127.0.0.1:8080,10.0.0.7,[::1]:81,localhost.');
    for (const good of [
      'http://minio.local:9000/x',
      'http://127.0.0.1:8080/',
      'http://127.1:8080/',
      'http://10.0.0.7:1234/',
      'http://10.0.0.7/',
      'http://[0::1]:81/',
      'http://localhost./',
    ])
      expect(guard.check(good).url.href, good).toBeTruthy();
    for (const bad of [
      'http://minio.local/',
      'http://a.minio.local:9000/',
      'http://127.0.0.1/',
      'http://127.0.0.2:8080/',
      'http://10.0.0.8/',
      'http://[::1]/',
      'ftp://10.0.0.7/',
      'http://u@10.0.0.7/',
    ])
      expect(() => guard.check(bad), bad).toThrow(EgressRefused);
  });

  it('of any text is rejected with a message, or accepted with a public address or a name', () => {
    const part = fc.oneof(
      fc.string(),
      fc.constantFrom(
        'http://',
        'https://',
        '127.0.0.1',
        '@',
        ':',
        '/',
        '[::1]',
        'localhost',
        '%2e',
        '.',
        '。',
        '0x7f',
      ),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const text = parts.join('');
        try {
          const { url } = guardOf().check(text);
          const literal = isIP(url.hostname) > 0 || url.hostname.startsWith('[');
          if (literal) expect(addressFault(url.hostname.replace(/^\[|\]$/g, ''))).toBeUndefined();
          else expect(url.hostname).toMatch(/^[\w-]+(\.[\w-]+)*$/);
          expect(url.hostname).not.toMatch(/(^|\.)localhost$/);
          expect(url.username + url.password).toBe('');
        } catch (error) {
          expect(error).toBeInstanceOf(EgressRefused);
        }
      }),
      { numRuns: 3_000 },
    );
  });
});

describe('a name', () => {
  const answers =
    (...addresses: string[]): Resolve =>
    () =>
      Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));

  it('is used with the addresses that it resolves to', async () => {
    const target = guardOf('', answers('1.1.1.1', '2606:4700::1111')).check('https://example.com/');
    expect(await look(target, false)).toBe('1.1.1.1');
    expect(await look(target, true)).toEqual([
      { address: '1.1.1.1', family: 4 },
      { address: '2606:4700::1111', family: 6 },
    ]);
  });

  it.each([
    [['127.0.0.1']],
    [['1.1.1.1', '10.0.0.1']],
    [['1.1.1.1', '::1']],
    [['1.1.1.1', '::ffff:127.0.0.1']],
    [['169.254.169.254', '1.1.1.1']],
  ])('that resolves to %j is rejected', async (addresses) => {
    const target = guardOf('', answers(...addresses)).check('https://127.0.0.1.nip.io/');
    await expect(look(target, true)).rejects.toThrow(EgressRefused);
    await expect(look(target, false)).rejects.toThrow(EgressRefused);
  });

  it('that resolves differently at the second connection is rejected then', async () => {
    const turns = [answers('1.1.1.1'), answers('127.0.0.1')];
    const target = guardOf('', (...args) => (turns.shift() as Resolve)(...args)).check('https://flip.test/');
    expect(await look(target, false)).toBe('1.1.1.1');
    await expect(look(target, false)).rejects.toThrow(EgressRefused);
  });

  it('that does not resolve fails with the error of the resolver', async () => {
    const lost = () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }));
    await expect(look(guardOf('', lost).check('https://nowhere.test/'), true)).rejects.toThrow('no');
    await expect(look(guardOf('', answers()).check('https://empty.test/'), true)).rejects.toThrow(
      'no address',
    );
  });

  it('may resolve to this machine with the loopback rule, and to any address on the allow-list', async () => {
    const open = guardOf('', answers('127.0.0.1', '::1')).check('http://localhost:9/', { loopback: true });
    expect(await look(open, false)).toBe('127.0.0.1');
    const inner = guardOf('minio', answers('10.0.0.1')).check('http://minio:9000/');
    expect(await look(inner, false)).toBe('10.0.0.1');
    const metadata = guardOf('minio', answers('169.254.169.254')).check('http://minio:9000/');
    await expect(look(metadata, false)).rejects.toThrow(EgressRefused);
  });
});
