// Fields that an input has and another graph does not take.
import { isObject } from '../messages/read-messages.ts';
import { fieldsOf, messagesField } from '../schemas/read-schema.ts';

const namesOf = (schema: unknown): string[] => {
  const conversation = messagesField(schema);
  return [...(conversation === undefined ? [] : [conversation]), ...fieldsOf(schema).map(({ name }) => name)];
};

/** Names in the input schema of a form that another input schema lacks. A schema that names no field takes any. */
export const lackingFields = (form: unknown, other: unknown): string[] => {
  if (!isObject(other) || !isObject(other['properties'])) return [];
  const taken = new Set(namesOf(other));
  return namesOf(form).filter((name) => !taken.has(name));
};
