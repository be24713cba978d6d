// The key with which the console shows traces where nobody signs in: on a server without authentication that only this machine can reach.
// It is an API key like others: listed with those of the workspace `default`, with the role viewer, and revoked for good when somebody revokes it.
import { ConfigError } from '../../config/project/mistake.ts';
import type { ApiKeyStorage } from '../../storage/auth/api-keys.ts';
import type { WorkspaceStorage } from '../../storage/tracing/workspaces.ts';
import { toNewKey } from '../keys/key-service.ts';
import { keyTextBytes, newKeyText } from '../keys/key-text.ts';
import type { LazySealer } from '../sealed-users/lazy-sealer.ts';
import { defaultWorkspaceId } from '../workspaces/default-workspace.ts';
import type { CredentialHeaders } from './session-credentials.ts';

export interface LocalViewerParts {
  sealer: Pick<LazySealer, 'get'>;
  keys: Pick<ApiKeyStorage, 'create'>;
  workspaces: Pick<WorkspaceStorage, 'oldestNamed'>;
  /** Shows a message to the operator. */
  warn: (text: string) => void;
}

export class LocalViewer {
  readonly #parts: LocalViewerParts;
  #headers: CredentialHeaders | undefined;
  readonly #warned = new Set<string>();

  constructor(parts: LocalViewerParts) {
    this.#parts = parts;
  }

  /**
   * The headers that send the key; it is created by the first call on a database. Undefined when this server has another encryption key
   * than the database: it can keep no sessions.
   */
  async credential(): Promise<CredentialHeaders | undefined> {
    try {
      return (this.#headers ??= await this.#create());
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.#warnOnce(error.message);
      return undefined;
    }
  }

  /** Says why the console asks for a key: its own was revoked. */
  refused(): void {
    this.#warnOnce('its own key was revoked, which cannot be undone');
  }

  #warnOnce(reason: string): void {
    if (this.#warned.has(reason)) return;
    this.#warned.add(reason);
    this.#parts.warn(`The console asks for an API key before it shows traces: ${reason}`);
  }

  /** Every start derives the same text from the encryption key. A revoked key stays revoked. */
  async #create(): Promise<CredentialHeaders> {
    const { sealer, keys, workspaces } = this.#parts;
    const id = await defaultWorkspaceId(workspaces);
    const bytes = (await sealer.get()).derive(`local viewer of ${id}`, keyTextBytes);
    const key = newKeyText('service', bytes);
    const description = 'console on this machine, without sign-in';
    await keys.create(toNewKey(key, { description, role: 'viewer', expires_at: null, workspaces: [id] }));
    return { 'x-api-key': key.text, 'x-tenant-id': id };
  }
}
