// Channel `custom`: what a node writes. A node names an event by writing `{ name, payload }`.
import { isRecord } from '../../../engine/codec/tagged.ts';
import type { LoggedEvent, ProtocolEvent } from './protocol-event.ts';

export const customEvents = ({ namespace, data }: LoggedEvent): ProtocolEvent[] => {
  const isNamed =
    isRecord(data) && typeof data['name'] === 'string' && 'payload' in data && Object.keys(data).length === 2;
  return [
    {
      channel: 'custom',
      method: 'custom',
      namespace,
      data: isNamed ? data : { payload: data },
      key: 'custom',
    },
  ];
};
