// Channel `custom`: what a node writes. A node names an event by writing `{ name, payload }`.
import { JsonText } from '../../../api/json-text.ts';
import { isRecord } from '../../../engine/codec/tagged.ts';
import type { ProtocolEvent } from './protocol-event.ts';

/** `text`: the JSON text of what was written. Only a text that may have a name is parsed. */
export const customEvents = (namespace: readonly string[], text: string): ProtocolEvent[] => [
  {
    channel: 'custom',
    method: 'custom',
    namespace,
    data: namedData(text) ?? new JsonText(`{"payload":${text}}`),
    key: 'custom',
  },
];

const namedData = (text: string): unknown => {
  if (!text.startsWith('{') || !text.includes('"payload"')) return undefined;
  const data: unknown = JSON.parse(text);
  const isNamed =
    isRecord(data) && typeof data['name'] === 'string' && 'payload' in data && Object.keys(data).length === 2;
  return isNamed ? data : undefined;
};
