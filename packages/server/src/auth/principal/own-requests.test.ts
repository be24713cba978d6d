import { afterEach, expect, it, vi } from 'vitest';
import { ownHeader } from '../../config/project/header-patterns.ts';
import { anybody, type Credentials } from './caller.ts';
import { OwnRequests } from './own-requests.ts';

afterEach(() => {
  vi.useRealTimers();
});

it('the credential of code that serves a request is valid for a day', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const requests = new OwnRequests({ kind: 'keys', keys: [] });
  const credential = requests.issue(undefined);
  const authenticate = requests.around(
    () => {
      throw new Error('not called');
    },
    () => false,
  );
  const header = (name: string) => (name === ownHeader ? credential : undefined);
  const send = () => authenticate({ header } as Credentials);
  expect(send()).toBe(anybody);
  vi.advanceTimersByTime(24 * 3_600_000 + 1);
  expect(send).toThrow('more than a day ago');
});
