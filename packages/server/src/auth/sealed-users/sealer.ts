// Encrypts secrets with AES-256-GCM. Each sealed text contains the id of its key, and is bound to its owner (`belongsTo`).
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

const cipher = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** A secret cannot be decrypted: it has another key or another owner, or was changed. */
export class SealError extends Error {
  override readonly name = 'SealError';
}

export class Sealer {
  readonly #key: Buffer;
  /** Identifies the key without revealing it. */
  readonly keyId: string;

  /** 32 bytes. */
  constructor(key: Buffer) {
    this.#key = key;
    this.keyId = createHash('sha256').update('svc key id').update(key).digest('hex').slice(0, 8);
  }

  /** Secret bytes that are always the same for a purpose (HKDF, RFC 5869). */
  derive(purpose: string, length: number): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#key, '', `svc ${purpose}`, length));
  }

  /** `v1.<key id>.<base64url of iv, tag and ciphertext>`; opens only with the same `belongsTo`. */
  seal(text: string, belongsTo: string): string {
    const iv = randomBytes(ivBytes);
    const encryption = createCipheriv(cipher, this.#key, iv).setAAD(Buffer.from(belongsTo));
    const sealed = Buffer.concat([encryption.update(text, 'utf8'), encryption.final()]);
    const bytes = Buffer.concat([iv, encryption.getAuthTag(), sealed]);
    return `v1.${this.keyId}.${bytes.toString('base64url')}`;
  }

  /** Throws a SealError. */
  open(sealed: string, belongsTo: string): string {
    const [version, keyId, text = ''] = sealed.split('.');
    if (version !== 'v1') throw new SealError('This is not a sealed secret');
    if (keyId !== this.keyId)
      throw new SealError(
        `The secret is encrypted with key ${keyId}, but this server has key ${this.keyId}: see SVC_ENCRYPTION_KEY`,
      );
    const bytes = Buffer.from(text, 'base64url');
    try {
      const decryption = createDecipheriv(cipher, this.#key, bytes.subarray(0, ivBytes), {
        authTagLength: tagBytes,
      })
        .setAAD(Buffer.from(belongsTo))
        .setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
      return (
        decryption.update(bytes.subarray(ivBytes + tagBytes), undefined, 'utf8') + decryption.final('utf8')
      );
    } catch (cause) {
      throw new SealError('The secret was changed, or belongs to another owner', { cause });
    }
  }
}
