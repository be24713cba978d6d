// A file of names and secrets, as a placeholder for a secret manager. In production use a client of Vault or of your cloud provider.
import { readFile } from 'node:fs/promises';

export interface SecretStore {
  /** Undefined when there is no secret of this name. */
  get(name: string): Promise<string | undefined>;
}

export const demoSecretFile = (file: string | URL): SecretStore => ({
  // Reads the file every time, because secrets change.
  async get(name) {
    const secrets = JSON.parse(await readFile(file, 'utf8')) as Record<string, string>;
    return Object.hasOwn(secrets, name) ? secrets[name] : undefined;
  },
});
