import { hash, timingSafeEqual } from 'node:crypto';
import { Problem } from '@svc/contract/problem';
import type { Secret } from '../../config/settings/secret.ts';
import type { Authenticate, Caller } from './caller.ts';

/** Knows callers by the key they show as `x-api-key`. Who holds one may do everything: users are not told apart. */
export const apiKeyAuthenticator = (keys: readonly Secret[]): Authenticate => {
  const known = keys.map((key) => {
    const digest = sha256(key.reveal());
    const caller: Caller = { user: undefined, countedAs: `key:${digest.toString('hex', 0, 4)}` };
    return { digest, caller };
  });
  return (credentials) => {
    const shown = credentials.header('x-api-key');
    if (shown === undefined)
      throw new Problem('unauthenticated', 'This server asks for an API key: send it as x-api-key.');
    const digest = sha256(shown);
    let caller: Caller | undefined;
    // All of them, whichever fits: how long it takes must not tell which.
    for (const each of known) if (timingSafeEqual(each.digest, digest)) caller = each.caller;
    if (caller === undefined) throw new Problem('unauthenticated', 'The API key is not one of this server.');
    return caller;
  };
};

const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer');
