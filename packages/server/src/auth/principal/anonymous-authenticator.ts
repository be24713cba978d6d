import { anybody, type Authenticate } from './caller.ts';
import { type AddressOf, isLoopbackAddress } from './client-address.ts';

/** Asks nobody who they are; who comes from elsewhere is counted by address. */
export const anonymousAuthenticator =
  (addressOf: AddressOf): Authenticate =>
  (credentials) => {
    const address = addressOf(credentials);
    if (address === undefined || isLoopbackAddress(address)) return anybody;
    return { user: undefined, countedAs: `address:${address}` };
  };
