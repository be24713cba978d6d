import { anybody, type Authenticate } from './caller.ts';
import { type AddressOf, isLoopbackAddress } from './client-address.ts';

/** Accepts every request. Clients on other machines are counted by address. */
export const anonymousAuthenticator =
  (addressOf: AddressOf): Authenticate =>
  (credentials) => {
    const address = addressOf(credentials);
    if (address === undefined || isLoopbackAddress(address)) return anybody;
    return { user: undefined, countedAs: `address:${address}` };
  };
