import { describe, expect, it } from 'vitest';
import { formatCidrList, parseCidrList } from '../../net/cidr-list.ts';
import { createAddressOf, isLoopbackAddress } from './client-address.ts';

const addressOf = (remoteAddress: string | undefined, trusted?: string, forwarded?: string) =>
  createAddressOf(trusted === undefined ? [] : (parseCidrList(trusted) ?? []))({
    remoteAddress,
    header: (name) => (name === 'x-forwarded-for' ? forwarded : undefined),
  });

describe('the address of a client', () => {
  it.each([
    ['203.0.113.5', '203.0.113.5'],
    ['::ffff:203.0.113.5', '203.0.113.5'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:ffff::1', '2001:db8:1:2::/64'],
    ['::1', '::1'],
    [undefined, undefined],
  ])('%s is counted as %s', (remote, counted) => {
    expect(addressOf(remote)).toBe(counted);
    expect(addressOf(remote, '192.0.2.0/24')).toBe(counted);
  });

  it.each([
    // Addresses that the client itself has sent are ignored.
    ['203.0.113.5', undefined, '198.51.100.1', '203.0.113.5'],
    ['203.0.113.5', '10.0.0.0/8', '198.51.100.1', '203.0.113.5'],
    ['10.0.0.1', '10.0.0.0/8', '198.51.100.1', '198.51.100.1'],
    ['::ffff:10.0.0.1', '10.0.0.0/8', '198.51.100.1', '198.51.100.1'],
    // From the end of the list, while the addresses are trusted proxies.
    ['10.0.0.1', '10.0.0.0/8', '198.51.100.1, 203.0.113.5', '203.0.113.5'],
    ['10.0.0.1', '10.0.0.0/8', '198.51.100.1, 203.0.113.5,10.9.9.9', '203.0.113.5'],
    ['10.0.0.1', '10.0.0.0/8', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['10.0.0.1', '10.0.0.0/8', undefined, '10.0.0.1'],
    ['10.0.0.1', '10.0.0.0/8', '', '10.0.0.1'],
    ['10.0.0.1', '10.0.0.0/8', '203.0.113.5, unknown', '10.0.0.1'],
    ['10.0.0.1', '10.0.0.0/8', '203.0.113.5:4711', '203.0.113.5'],
    ['10.0.0.1', '10.0.0.0/8', '[2001:db8::1]:4711', '2001:db8:0:0::/64'],
    ['fd00::1', 'fd00::/8,10.0.0.0/8', '2001:db8::1, 10.0.0.1', '2001:db8:0:0::/64'],
  ])('behind %s with %s trusted and %j forwarded is %s', (remote, trusted, forwarded, counted) => {
    expect(addressOf(remote, trusted, forwarded)).toBe(counted);
  });

  it('is or is not of this machine', () => {
    expect(['127.0.0.1', '127.9.9.9', '::1'].map(isLoopbackAddress)).toEqual([true, true, true]);
    expect(['128.0.0.1', '12.7.0.1', '2001:db8:0:0::/64'].map(isLoopbackAddress)).toEqual([
      false,
      false,
      false,
    ]);
  });
});

describe('a list of networks', () => {
  it('contains networks and addresses', () => {
    const list = parseCidrList('10.0.0.0/8, 192.168.1.7,fd00::/8,::1') ?? [];
    expect(formatCidrList(list)).toBe('10.0.0.0/8, 192.168.1.7/32, fd00::/8, ::1/128');
  });

  it.each(['', 'proxy', '10.0.0.0/33', '10.0.0.0/8,', '10.1', '010.0.0.1/8x', 'fd00::/129', '*'])(
    'cannot be parsed from %j',
    (text) => {
      expect(parseCidrList(text)).toBeUndefined();
    },
  );
});
