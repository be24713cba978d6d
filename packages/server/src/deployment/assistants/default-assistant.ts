// Every graph has a default assistant, whose id is derived from the graph's id. Clients may use either id.
import { createHash } from 'node:crypto';
import { isUuid } from '../../storage/postgres/uuid.ts';

/** The UUID namespace of these ids. Stored ids depend on it, so it must not change. */
const namespace = Buffer.from('6ba7b8219dad11d180b400c04fd430c8', 'hex');

/** UUIDv5 of the graph id (RFC 9562, 5.5). */
export const defaultAssistantId = (graph_id: string): string => {
  const hash = createHash('sha1').update(namespace).update(graph_id).digest().subarray(0, 16);
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const hex = hash.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
};

/** Returns an assistant id in lower case; for a graph id, the id of its default assistant. */
export const assistantIdOf = (idOrGraphId: string): string =>
  isUuid(idOrGraphId) ? idOrGraphId.toLowerCase() : defaultAssistantId(idOrGraphId);
