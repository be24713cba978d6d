// The parts of a message as the input of a run, or as the answer to interrupts.
import { isRecord } from '../../json/is-record.ts';
import type { Part } from './agent-task.ts';
import { invalidParam } from './a2a-error.ts';

const at = (index: number): string => `message.parts.${index}`;

/** Content blocks of LangChain messages. */
const blockOf = (part: Exclude<Part, { kind: 'data' }>): object => {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  const { bytes, uri, mime, name } = part;
  const media = mime?.split('/', 1)[0] ?? '';
  const source =
    bytes === undefined ? { source_type: 'url', url: uri } : { source_type: 'base64', data: bytes };
  return {
    type: media === 'image' || media === 'audio' ? media : 'file',
    ...source,
    ...(mime === undefined ? {} : { mime_type: mime }),
    ...(name === undefined ? {} : { metadata: { filename: name } }),
  };
};

/**
 * Data parts are merged into the input; text and files become one human message. `takesMessages` is true when the input of the graph has `messages`.
 * Throws RpcError.
 */
export const inputOf = (
  parts: Part[],
  messageId: string,
  takesMessages: boolean,
): Record<string, unknown> => {
  const input: Record<string, unknown> = {};
  const blocks: object[] = [];
  for (const [index, part] of parts.entries()) {
    if (part.kind === 'data') {
      if (!isRecord(part.data)) throw invalidParam(at(index), 'data must be an object');
      Object.assign(input, part.data);
    } else if (takesMessages) blocks.push(blockOf(part));
    else
      throw invalidParam(
        at(index),
        `the input of this agent has no messages, so it takes no ${part.kind} parts. Send its input as a data part`,
      );
  }
  if (blocks.length === 0) return input;
  const [first] = parts;
  const content = parts.length === 1 && first?.kind === 'text' ? first.text : blocks;
  const before = input['messages'] ?? [];
  if (!Array.isArray(before)) throw invalidParam('message.parts', 'messages of a data part must be a list');
  return { ...input, messages: [...(before as unknown[]), { type: 'human', id: messageId, content }] };
};

const isAnswer = (value: unknown): value is { id: string; value?: unknown } =>
  isRecord(value) && typeof value['id'] === 'string';

/** Values by the id of their interrupt. `pending`: ids of the interrupts at which the task waits. Throws RpcError. */
export const answersOf = (parts: Part[], pending: readonly string[]): Record<string, unknown> => {
  const [part, ...others] = parts;
  if (others.length > 0 && parts.some(({ kind }) => kind !== 'text'))
    throw invalidParam('message.parts', 'an answer is text, or one data part');
  if (part?.kind === 'file') throw invalidParam(at(0), 'an answer is text, or one data part');
  if (part?.kind === 'data' && isRecord(part.data) && Array.isArray(part.data['resume']))
    return namedAnswers(part.data['resume'], pending);
  const [only, ...more] = pending;
  if (only === undefined || more.length > 0)
    throw invalidParam(
      'message.parts',
      `the task waits at ${pending.length} interrupts; send a data part {"resume": [{"id": …, "value": …}]}`,
    );
  const texts = parts.flatMap((one) => (one.kind === 'text' ? one.text : []));
  return { [only]: part?.kind === 'data' ? part.data : texts.join('\n') };
};

const namedAnswers = (answers: unknown[], pending: readonly string[]): Record<string, unknown> => {
  const values: Record<string, unknown> = {};
  for (const [index, answer] of answers.entries()) {
    const where = `${at(0)}.data.resume.${index}`;
    if (!isAnswer(answer)) throw invalidParam(where, 'must be an object with id and value');
    if (!pending.includes(answer.id))
      throw invalidParam(`${where}.id`, 'the task does not wait at this interrupt');
    if (Object.hasOwn(values, answer.id)) throw invalidParam(`${where}.id`, 'is answered twice');
    values[answer.id] = answer.value ?? null;
  }
  if (answers.length === 0) throw invalidParam(`${at(0)}.data.resume`, 'is empty');
  return values;
};
