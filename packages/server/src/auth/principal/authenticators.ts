import { timingSafeEqual } from 'node:crypto';
import { Problem } from '@svc/contract/problem';
import type { Secret } from '../../config/settings/secret.ts';
import { sha256 } from '../sha256.ts';
import { anybody, type Authenticate, type Caller } from './caller.ts';
import { type AddressOf, isLoopbackAddress } from './client-address.ts';

/** Accepts requests with one of the configured keys in `x-api-key`. A key allows everything, since there are no users. */
export const apiKeyAuthenticator = (keys: readonly Secret[]): Authenticate => {
  const known = keys.map((key) => {
    const digest = sha256(key.reveal());
    const caller: Caller = { user: undefined, countedAs: `key:${digest.toString('hex', 0, 4)}` };
    return { digest, caller };
  });
  return (credentials) => {
    const shown = credentials.header('x-api-key');
    if (shown === undefined)
      throw new Problem('unauthenticated', 'This server requires an API key in the header x-api-key.');
    const digest = sha256(shown);
    let caller: Caller | undefined;
    // Compares with all keys, so that the duration does not reveal which one matched.
    for (const each of known) if (timingSafeEqual(each.digest, digest)) caller = each.caller;
    if (caller === undefined)
      throw new Problem('unauthenticated', 'The API key is not valid for this server.');
    return caller;
  };
};

/** Accepts every request. Clients on other machines are counted by address. */
export const anonymousAuthenticator =
  (addressOf: AddressOf): Authenticate =>
  (credentials) => {
    const address = addressOf(credentials);
    if (address === undefined || isLoopbackAddress(address)) return anybody;
    return { user: undefined, countedAs: `address:${address}` };
  };
