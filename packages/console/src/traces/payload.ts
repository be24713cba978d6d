// What the inputs or outputs of a span are shown as.
import { payloadMessages, type PayloadMessages } from '../messages/payload-messages.ts';
import { plainMessage } from '../messages/plain-message.ts';
import { isObject, parsedArgs, readMessage } from '../messages/read-messages.ts';

export type Payload =
  | { kind: 'none' }
  | { kind: 'json'; value: unknown }
  | { kind: 'messages'; value: unknown; found: PayloadMessages }
  /** `shown`: the arguments or the result of a tool. `isError`: the message with the result says that the tool has failed. */
  | { kind: 'tool'; value: unknown; shown: unknown; isError: boolean };

export type Side = 'inputs' | 'outputs';

export const readPayload = (runType: string, side: Side, value: unknown): Payload => {
  if (value === null || value === undefined) return { kind: 'none' };
  if (runType === 'tool') return ofTool(value, side === 'inputs' ? 'input' : 'output');
  const found = payloadMessages(value);
  return found ? { kind: 'messages', value, found } : { kind: 'json', value };
};

/** Tracers put the arguments of a tool into `input`, as a JSON text, and its result into `output`, which may be a message. */
const ofTool = (value: unknown, wrapper: string): Payload => {
  const inner = isWrapped(value, wrapper) ? value[wrapper] : value;
  const message = readMessage(plainMessage(inner));
  const isText = message !== undefined && message.text !== '' && message.media.length === 0;
  const shown = parsedText(isText ? message.text : inner);
  return { kind: 'tool', value, shown, isError: message?.isError ?? false };
};

const isWrapped = (value: unknown, wrapper: string): value is Record<string, unknown> =>
  isObject(value) && Object.hasOwn(value, wrapper) && Object.keys(value).length === 1;

/** Objects and lists of a JSON text. Other texts stay as they are, also numbers: parsing one may change its digits. */
const parsedText = (value: unknown): unknown =>
  typeof value === 'string' && /^\s*[[{]/.test(value) ? parsedArgs(value) : value;
