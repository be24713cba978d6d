import { describe, expect, it } from 'vitest';
import { readCors, withOrigins } from './cors.ts';
import { CorsSection } from '../project/http-schema.ts';
import type { Mistake } from '../project/mistake.ts';

const read = (section: unknown) => {
  const mistakes: Mistake[] = [];
  const rules = readCors({ section: CorsSection.parse(section), where: (path) => path.join('.'), mistakes });
  return { rules, mistakes };
};

describe('the cors section', () => {
  it('may be absent', () => {
    expect(readCors({ section: undefined, where: String, mistakes: [] })).toBeUndefined();
    expect(withOrigins(undefined, undefined)).toBeUndefined();
  });

  it('allows the listed origins, every method and header, and no cookies', () => {
    const { rules, mistakes } = read({
      allow_origins: ['https://App.example.com:443', 'capacitor://localhost'],
    });
    expect(mistakes).toEqual([]);
    expect(rules).toMatchObject({
      origins: new Set(['https://app.example.com', 'capacitor://localhost']),
      originPattern: undefined,
      methods: expect.arrayContaining(['GET', 'PATCH']) as string[],
      headers: undefined,
      credentials: false,
      maxAgeSeconds: 600,
    });
  });

  it('accepts a pattern for the whole origin', () => {
    const pattern = read({ allow_origin_regex: String.raw`https://a\.example|https://b\.example` }).rules
      ?.originPattern;
    const fits = (origin: string) => pattern?.test(origin);
    expect(['https://a.example', 'https://b.example'].map(fits)).toEqual([true, true]);
    expect(
      [
        'https://a.example.evil.example',
        'evil:https://b.example',
        'https://a-example',
        'https://b.example\n',
      ].map(fits),
    ).toEqual([false, false, false, false]);
  });

  it('applies its other rules to the origins of the setting, which replace its own', () => {
    const { rules } = read({ allow_origins: ['https://a.example'], allow_origin_regex: '.*', max_age: 5 });
    expect(withOrigins(rules, ['https://b.example'])).toEqual({
      ...rules,
      origins: new Set(['https://b.example']),
      originPattern: undefined,
    });
    expect(withOrigins(undefined, ['https://b.example'])).toMatchObject({
      maxAgeSeconds: 600,
      credentials: false,
    });
  });

  it.each([
    [{ allow_origins: ['https://a.example/'] }, 'allow_origins.0', 'is not an origin'],
    [{ allow_origins: ['https://a.example', 'a.example'] }, 'allow_origins.1', 'is not an origin'],
    [{ allow_origins: ['https://*.example.com'] }, 'allow_origins.0', 'is not an origin'],
    [{ allow_origins: ['https://u:p@a.example'] }, 'allow_origins.0', 'is not an origin'],
    [{ allow_origins: ['https://a.example?x'] }, 'allow_origins.0', 'is not an origin'],
    [{ allow_origin_regex: '(' }, 'allow_origin_regex', 'Invalid regular expression'],
    [{ allow_origin_regex: 'https://a)|(.*' }, 'allow_origin_regex', 'Invalid regular expression'],
    [{ allow_headers: ['x-a, x-b'] }, 'allow_headers.0', 'is not the name of a header'],
    [{ expose_headers: ['x\r\ny'] }, 'expose_headers.0', 'is not the name of a header'],
    [{ allow_methods: ['GET POST'] }, 'allow_methods.0', 'is not the name of a method'],
  ])('%j is rejected', (section, where, problem) => {
    const { mistakes } = read(section);
    expect(mistakes).toHaveLength(1);
    expect(mistakes[0]?.where).toBe(`http.cors.${where}`);
    expect(mistakes[0]?.problem).toContain(problem);
  });
});
