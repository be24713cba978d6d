// Channel `custom`: what a node writes. A node names an event by writing an object with a `name`.
import { JsonText } from '../../../api/json-text.ts';
import { isRecord } from '../../../engine/codec/tagged.ts';
import type { Dialect } from './dialect.ts';
import type { JsonRecord, ProtocolEvent } from './protocol-event.ts';

/** `text`: the JSON text of what was written. Only a text that may have a name is parsed. */
export const customEvents = (
  namespace: readonly string[],
  text: string,
  dialect: Dialect,
): ProtocolEvent[] => {
  const named = namedData(text);
  const plain = new JsonText(dialect === 'python' ? text : `{"payload":${text}}`);
  const data = named === undefined ? plain : dialect === 'python' ? named : withPayload(named);
  return [{ channel: 'custom', method: 'custom', namespace, data, key: 'custom' }];
};

const namedData = (text: string): JsonRecord | undefined => {
  if (!text.startsWith('{') || !text.includes('"name"')) return undefined;
  const data: unknown = JSON.parse(text);
  return isRecord(data) && typeof data['name'] === 'string' ? data : undefined;
};

/** The JavaScript client reads only `payload`. */
const withPayload = (data: JsonRecord): JsonRecord => ('payload' in data ? data : { ...data, payload: data });
