import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SettingKey } from './definitions.ts';
import { exposureOf, readExposure, servesConsole } from './exposure.ts';
import { loadSvcJson } from '../project/svc-json.ts';
import { testSettings } from '../../../test/settings.ts';
import { sharedFolder } from '../../../test/folders.ts';

const dir = sharedFolder();
writeFileSync(join(dir, 'a.ts'), '');
writeFileSync(join(dir, 'auth.ts'), '');

const project = (sections: object = {}) => {
  const file = join(dir, 'svc.json');
  writeFileSync(file, JSON.stringify({ graphs: { a: './a.ts:a' }, ...sections }));
  return loadSvcJson(file, {});
};

const read = (settings: Partial<Record<SettingKey, string>>, sections?: object) =>
  readExposure(testSettings({ dataDir: dir, ...settings }), project(sections));

const apiKeys = 'a-key-of-thirty-two-letters-at-least';
const auth = { path: './auth.ts:auth' };

describe('access to the server', () => {
  it.each(['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1', 'localhost', 'LOCALHOST'])(
    'is allowed to this machine on %s',
    (host) => {
      const { exposure, mistakes } = read({ host });
      expect([exposure.mode, mistakes]).toEqual([{ kind: 'anonymous', local: true }, []]);
    },
  );

  it.each(['0.0.0.0', '::', '10.0.0.1', 'localhost.example.com', '::2', 'myhost', '128.0.0.1'])(
    'on %s needs authentication',
    (host) => {
      expect(read({ host }).mistakes).toEqual([
        {
          where: 'flag --host',
          value: JSON.stringify(host),
          problem: 'opens the server to the network without authentication',
          remedy: expect.stringContaining('Set SVC_API_KEY') as string,
        },
      ]);
      expect(() => exposureOf(testSettings({ dataDir: dir, host }), project())).toThrow('opens the server');
      for (const settings of [{ apiKeys }, { allowAnonymous: 'true' }, { role: 'worker' }])
        expect(read({ host, ...settings }).mistakes).toEqual([]);
      expect(read({ host }, { auth }).mistakes).toEqual([]);
      expect(read({ host, allowAnonymous: 'false', role: 'api' }).mistakes).toHaveLength(1);
    },
  );

  it('is decided by custom auth first, then by API keys, then anonymous', () => {
    expect(read({ apiKeys }, { auth }).exposure.mode).toEqual({ kind: 'custom' });
    expect(read({ apiKeys, allowAnonymous: 'true' }).exposure.mode.kind).toBe('keys');
    expect(read({ allowAnonymous: 'true' }).exposure.mode).toEqual({ kind: 'anonymous', local: false });
  });

  it('has warnings for configuration that has no effect', () => {
    const warnings = (...given: Parameters<typeof read>) => read(...given).exposure.warnings.join('\n');
    expect(warnings({})).toBe('');
    expect(warnings({ apiKeys }, { auth })).toContain('SVC_API_KEY is set and not used');
    expect(warnings({}, { http: { cors: { max_age: 5 } } })).toContain('names no origin');
    expect(warnings({ corsOrigins: 'https://a.example' }, { http: { cors: { max_age: 5 } } })).toBe('');
    expect(warnings({ corsOrigins: '*' })).toContain('any web page');
    expect(warnings({ corsOrigins: '*', apiKeys })).toBe('');
  });
});

describe('a file of the stock server', () => {
  const stock = { compat: 'langgraph' };
  const allows = (origin: string, ...given: Parameters<typeof read>): boolean => {
    const { cors } = read(...given).exposure;
    return cors?.origins.has('*') === true || cors?.originPattern?.test(origin) === true;
  };

  it('lets pages of this machine use a server that listens on it', () => {
    for (const origin of [
      'http://localhost:3000',
      'http://127.0.0.1:5173',
      'https://[::1]',
      'http://a.localhost',
    ])
      expect(allows(origin, {}, stock)).toBe(true);
    for (const origin of ['https://evil.example', 'http://localhost.evil.example', 'null'])
      expect(allows(origin, {}, stock)).toBe(false);
    expect(allows('http://localhost:3000', {}, {})).toBe(false);
  });

  it('lets every page use it where callers authenticate, without cookies', () => {
    expect(allows('https://app.example', { apiKeys }, stock)).toBe(true);
    expect(read({ apiKeys }, stock).exposure.cors?.credentials).toBe(false);
    expect(allows('https://app.example', {}, { ...stock, auth })).toBe(true);
  });

  it('opens nothing on other addresses, or when it has rules of its own', () => {
    expect(allows('https://app.example', { apiKeys, host: '0.0.0.0' }, stock)).toBe(false);
    const http = { cors: { allow_origins: [] } };
    expect(allows('http://localhost:3000', {}, { ...stock, http })).toBe(false);
    expect(allows('http://localhost:3000', { corsOrigins: 'https://a.example' }, stock)).toBe(false);
  });
});

describe('every origin with credentials', () => {
  const cors = { allow_origins: ['*'], allow_credentials: true };
  it('is rejected, whatever the source of the two', () => {
    expect(read({ apiKeys }, { http: { cors } }).mistakes).toMatchObject([
      { where: 'http.cors.allow_origins' },
    ]);
    const split = { http: { cors: { ...cors, allow_origins: ['https://a.example'] } } };
    expect(read({ apiKeys }, split).mistakes).toEqual([]);
    expect(read({ apiKeys, corsOrigins: '*' }, split).mistakes).toMatchObject([
      { where: 'flag corsOrigins', value: '"*"' },
    ]);
  });
});

describe('the console', () => {
  const serves = (settings: Partial<Record<SettingKey, string>>, sections?: object) =>
    servesConsole(read(settings, sections).exposure.mode, testSettings({ dataDir: dir, ...settings }));

  it('is served where callers need a credential, or only this machine can reach the server', () => {
    expect(serves({})).toBe(true);
    expect(serves({ console: 'off' })).toBe(false);
    expect(serves({ apiKeys })).toBe(true);
    expect(serves({ apiKeys, host: '0.0.0.0' })).toBe(true);
    expect(serves({ apiKeys, console: 'off' })).toBe(false);
    expect(serves({ apiKeys, role: 'worker' })).toBe(false);
    expect(serves({ host: '0.0.0.0', allowAnonymous: 'true' })).toBe(false);
    expect(serves({ role: 'worker' })).toBe(false);
    expect(serves({}, { auth })).toBe(true);
  });

  it('that was asked for and cannot be served is named in a warning', () => {
    const warnings = (settings: Partial<Record<SettingKey, string>>) =>
      read(settings).exposure.warnings.join();
    const open = { host: '0.0.0.0', allowAnonymous: 'true' };
    expect(warnings({ ...open, console: 'on' })).toContain('The console is not served');
    expect(warnings(open)).not.toContain('console');
    expect(warnings({ apiKeys, console: 'on' })).not.toContain('console');
    expect(warnings({ console: 'on' })).not.toContain('console');
    expect(warnings({ console: 'on', role: 'worker' })).not.toContain('console');
  });
});
