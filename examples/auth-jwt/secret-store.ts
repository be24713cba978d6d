// Stands in for a secret manager: a file of names and secrets. Yours would be a client of Vault or of a cloud's.
import { readFile } from 'node:fs/promises';

export interface SecretStore {
  /** Undefined when there is no secret of this name. */
  get(name: string): Promise<string | undefined>;
}

export const demoSecretFile = (file: string | URL): SecretStore => ({
  // Read each time: secrets change.
  async get(name) {
    const secrets = JSON.parse(await readFile(file, 'utf8')) as Record<string, string>;
    return Object.hasOwn(secrets, name) ? secrets[name] : undefined;
  },
});
