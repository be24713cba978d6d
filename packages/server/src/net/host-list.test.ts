import { describe, expect, it } from 'vitest';
import { formatHostList, parseHostList } from './host-list.ts';

describe('a list of hosts', () => {
  it.each([
    ['minio.local:9000', 'minio.local:9000'],
    ['MinIO.Local', 'minio.local'],
    ['10.0.0.7 , 127.1:80', '10.0.0.7, 127.0.0.1:80'],
    ['[::1]:8080,::1', '[::1]:8080, [::1]'],
    ['[0:0:0:0:0:0:0:1]', '[::1]'],
    ['fd00::1', '[fd00::1]'],
  ])('reads %s', (text, shown) => {
    const hosts = parseHostList(text);
    expect(hosts && formatHostList(hosts)).toBe(shown);
    expect(parseHostList(shown)).toEqual(hosts);
  });

  it.each([
    '',
    'a,,b',
    'a:0',
    'a:65536',
    'a:x',
    'http://a',
    'a/b',
    'u@a',
    '[::1',
    '*.a b',
    '[zz::1]',
    '1.2.3.4.5:x',
  ])('rejects %j', (text) => {
    expect(parseHostList(text)).toBeUndefined();
  });
});
