// The input of a run, from what a person has typed.
import type { fieldsOf } from '../schemas/read-schema.ts';
import { readDraft, type Draft } from '../schemas/schema-form.tsx';
import { readExactObject } from '../values/read-json.ts';

export const readInput = (text: string): { value: Record<string, unknown> } | { problem: string } =>
  readExactObject(text, 'The input must be an object.');

export const readForm = ({
  fields,
  draft,
  conversation,
  message,
}: {
  fields: ReturnType<typeof fieldsOf>;
  draft: Draft;
  conversation: string | undefined;
  message: string;
}): { value: Record<string, unknown> } | { problem: string } => {
  const read = readDraft(fields, draft);
  if ('problem' in read || conversation === undefined) return read;
  // The id makes the message in the state the one that is shown already.
  const sent = { type: 'human', content: message, id: crypto.randomUUID() };
  return { value: { ...read.value, [conversation]: [sent] } };
};
