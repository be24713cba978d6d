import fc from 'fast-check';
import { BlockList } from 'node:net';
import { describe, expect, it } from 'vitest';
import { addressFault } from './guard.ts';

/** The registries of special addresses, written out as a second implementation. */
const special4: [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];
const blocked = new BlockList();
for (const [net, bits] of special4) blocked.addSubnet(net, bits, 'ipv4');

const dotted = (value: number): string => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');

describe('an address', () => {
  it.each([
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['::1', 'loopback'],
    ['10.1.2.3', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.0.1', 'private'],
    ['100.64.0.1', 'carrierGradeNat'],
    ['169.254.169.254', 'linkLocal'],
    ['fe80::1', 'linkLocal'],
    ['fe80::1%eth0', 'linkLocal'],
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'unspecified'],
    ['::', 'unspecified'],
    ['224.0.0.1', 'multicast'],
    ['ff02::1', 'multicast'],
    ['255.255.255.255', 'broadcast'],
    ['240.0.0.1', 'reserved'],
    ['198.18.0.1', 'reserved'],
    ['203.0.113.9', 'reserved'],
    ['2001:db8::1', 'reserved'],
    ['4000::1', 'reserved'],
    ['fc00::1', 'uniqueLocal'],
    ['fd12:3456::1', 'uniqueLocal'],
    ['fec0::1', 'deprecatedSiteLocal'],
    ['::ffff:127.0.0.1', 'ipv4Mapped'],
    ['::ffff:8.8.8.8', 'ipv4Mapped'],
    ['::ffff:0:127.0.0.1', 'rfc6145'],
    ['64:ff9b::7f00:1', 'rfc6052'],
    ['64:ff9b:1::1', 'rfc6052'],
    ['2002:7f00:1::', '6to4'],
    ['2001:0:1::1', 'teredo'],
    ['100::1', 'discard'],
    ['', 'unreadable'],
    ['nonsense', 'unreadable'],
  ])('%s is rejected as %s', (address, fault) => {
    expect(addressFault(address)).toBe(fault);
  });

  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '172.15.255.255',
    '172.32.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '2606:4700::1111',
    '2a00:1450::1',
  ])('%s is public', (address) => {
    expect(addressFault(address)).toBeUndefined();
  });

  it('of this machine is accepted only with the loopback rule, which accepts nothing else', () => {
    for (const address of ['127.0.0.1', '127.9.9.9', '::1'])
      expect(addressFault(address, { loopback: true })).toBeUndefined();
    for (const address of ['0.0.0.0', '::', '::ffff:127.0.0.1', '10.0.0.1', '169.254.169.254'])
      expect(addressFault(address, { loopback: true })).toBeDefined();
  });

  it('of IPv4 is never public when a registry lists it as special', () => {
    const near = fc
      .constantFrom(...special4)
      .chain(([net, bits]) =>
        fc.nat({ max: 2 ** (32 - bits) - 1 }).map((offset) => dotted(toNumber(net) + offset)),
      );
    const any = fc.nat({ max: 2 ** 32 - 1 }).map(dotted);
    fc.assert(
      fc.property(fc.oneof(near, any), (address) => {
        if (blocked.check(address, 'ipv4')) expect(addressFault(address)).toBeDefined();
      }),
      { numRuns: 2_000 },
    );
  });

  it('of IPv4 is never public when it is embedded in an IPv6 address', () => {
    const hex = (value: number): string => `${(value >>> 16).toString(16)}:${(value & 0xffff).toString(16)}`;
    const wraps = [
      (value: number) => `::ffff:${hex(value)}`,
      (value: number) => `::${hex(value)}`,
      (value: number) => `64:ff9b::${hex(value)}`,
      (value: number) => `2002:${hex(value)}::`,
      (value: number) => `2001:0:${hex(value)}::1`,
    ];
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 32 - 1 }), fc.constantFrom(...wraps), (value, wrap) => {
        expect(addressFault(wrap(value))).toBeDefined();
      }),
      { numRuns: 2_000 },
    );
  });
});

const toNumber = (address: string): number =>
  address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
