import { describe, expect, it } from 'vitest';
import { readHeaderPatterns, type HeaderPatternSources } from './header-patterns.ts';
import type { Mistake } from './mistake.ts';

const read = (section: HeaderPatternSources['section']) => {
  const mistakes: Mistake[] = [];
  const select = readHeaderPatterns({
    section,
    where: (path) => path.join('.'),
    path: ['http', 'logging_headers'],
    mistakes,
  });
  return { select, mistakes };
};
const headers = {
  'x-user-id': '1',
  'x-user-name': '2',
  accept: '3',
  authorization: '4',
  cookie: '5',
  'x-api-key': '6',
};

describe('header patterns', () => {
  it('select nothing without includes', () => {
    expect(read(undefined).select).toBeUndefined();
    expect(read({ excludes: ['*'] }).select).toBeUndefined();
  });

  it('match whole names, in any case, with * for any characters', () => {
    expect(read({ includes: ['X-User-*'] }).select?.(headers)).toEqual({
      'x-user-id': '1',
      'x-user-name': '2',
    });
    expect(read({ includes: ['user', 'x.user.id'] }).select?.(headers)).toEqual({});
  });

  it('leave out what excludes match', () => {
    expect(read({ include: ['*'], exclude: ['*-name'] }).select?.(headers)).toEqual({
      'x-user-id': '1',
      accept: '3',
    });
  });

  it('refuse headers with credentials, and never match them', () => {
    expect(read({ includes: ['accept', 'Authorization'] }).mistakes).toMatchObject([
      { where: 'http.logging_headers', problem: 'selects Authorization, which contains credentials' },
    ]);
    expect(read({ includes: ['*'] })).toMatchObject({ mistakes: [] });
    expect(Object.keys(read({ includes: ['*'] }).select?.(headers) ?? {})).toEqual([
      'x-user-id',
      'x-user-name',
      'accept',
    ]);
  });
});
