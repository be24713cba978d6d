// Converts values of a graph to the JSON text of a trace. Never throws, and omits the user of the run.
import type { MessageTexts } from '../events/message-texts.ts';

/** Characters of one payload. A longer one is replaced by a note with its length. */
const charsMax = 10_000_000;

/** Keys of a config that belong to the engine, or that describe the user of the run, who may have tokens. */
const privateKey = /^(?:__(?!interrupt__)|(?:svc|langgraph)_auth_)/;
const hasPrivate = /"(?:__pregel_|(?:svc|langgraph)_auth_)/;

/** Names of model parameters that may contain secrets. */
const secretName =
  /headers?$|authorization|api_?key|secret|password|credential|^configuration$|^client(?:config|options)?$/i;

const depthMax = 200;

type Keep = (key: string) => boolean;

const isShown: Keep = (key) => !privateKey.test(key);
const isHarmless: Keep = (key) => isShown(key) && !secretName.test(key);

/** JSON of inputs and outputs, messages and the like in their serialised form. */
export const traceText = (value: unknown, messages: MessageTexts): string => {
  let text: string;
  try {
    text = messages.textOf(value) ?? 'null';
    if (hasPrivate.test(text)) text = plainText(value, isShown);
  } catch {
    text = plainText(value, isShown);
  }
  return text.length > charsMax ? `{"omitted":"${text.length} characters"}` : text;
};

/** Facts about a trace run that are not inputs, such as parameters of a model: a JSON copy without keys that may be secret. */
export const traceFacts = (value: Record<string, unknown>): Record<string, unknown> =>
  JSON.parse(plainText(value, isHarmless)) as Record<string, unknown>;

const isPlain = (value: unknown): boolean =>
  typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);

/** Like traceFacts(), but faster for metadata, which every trace run has and which is nearly always plain. */
export const traceLabels = (metadata: Record<string, unknown>): Record<string, unknown> => {
  const labels: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(metadata)) {
    if (!isHarmless(key)) continue;
    if (isPlain(value) || (Array.isArray(value) && value.every(isPlain))) labels[key] = value;
    else Object.assign(labels, traceFacts({ [key]: value }));
  }
  return labels;
};

/** Slower than JSON.stringify, for values that it rejects: cycles, bigints, getters that throw. */
const plainText = (value: unknown, isKept: Keep): string => {
  const above: unknown[] = [];
  const replace = function (this: unknown, key: string, item: unknown): unknown {
    if (!Array.isArray(this) && !isKept(key)) return undefined;
    if (typeof item === 'bigint') return String(item);
    if (typeof item !== 'object' || item === null) return item;
    while (above.length > 0 && above.at(-1) !== this) above.pop();
    if (above.includes(item)) return '[Circular]';
    if (above.length > depthMax) return '[Deep]';
    above.push(item);
    return item;
  };
  try {
    return JSON.stringify(value, replace) ?? 'null';
  } catch (error) {
    return JSON.stringify({ unreadable: String(error) });
  }
};
