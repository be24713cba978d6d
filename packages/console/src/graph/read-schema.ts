// The parts of a JSON Schema that a form needs. Whatever it does not understand is edited as JSON.
import { isObject } from '../messages/read-messages.ts';

export interface Field {
  name: string;
  kind: 'text' | 'number' | 'boolean' | 'choice' | 'json';
  choices: string[];
  description: string;
  isRequired: boolean;
  default: unknown;
}

type Schema = Record<string, unknown>;

const propertiesOf = (schema: unknown): [string, Schema][] => {
  const properties = isObject(schema) ? schema['properties'] : undefined;
  if (!isObject(properties)) return [];
  return Object.entries(properties).map(([name, one]) => [name, isObject(one) ? one : {}]);
};

/** The property that holds a conversation. */
export const messagesField = (schema: unknown): string | undefined =>
  propertiesOf(schema).find(
    ([name, { langgraph_type: type, type: kind }]) =>
      type === 'messages' || (name === 'messages' && kind === 'array'),
  )?.[0];

const kindOf = ({ type, enum: choices }: Schema): Field['kind'] => {
  if (Array.isArray(choices) && choices.every((choice) => typeof choice === 'string')) return 'choice';
  switch (type) {
    case 'string':
    case undefined: // a channel without a schema: mostly a text
      return 'text';
    case 'number':
    case 'integer':
      return 'number';
    case 'boolean':
      return 'boolean';
    default:
      return 'json';
  }
};

/** The fields of an object, except its conversation. */
export const fieldsOf = (schema: unknown): Field[] => {
  const conversation = messagesField(schema);
  const required = isObject(schema) && Array.isArray(schema['required']) ? schema['required'] : [];
  return propertiesOf(schema)
    .filter(([name]) => name !== conversation)
    .map(([name, property]) => ({
      name,
      kind: kindOf(property),
      choices: Array.isArray(property['enum']) ? property['enum'].map(String) : [],
      description: typeof property['description'] === 'string' ? property['description'] : '',
      // The graph fills a field that has a default.
      isRequired: required.includes(name) && property['default'] === undefined,
      default: property['default'],
    }));
};
