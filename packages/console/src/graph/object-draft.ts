// An object that a person edits: the configurable values or the context of an assistant or a run. It is edited as a form of the fields of
// its schema, or as JSON where the graph declares no schema or the object has a value that the form cannot show.
import type { GraphSchemas } from '@svc/sdk';
import { formatJson, mayBeRounded, readExactJson } from '../values/read-json.ts';
import { isObject } from '../messages/read-messages.ts';
import { fieldsOf, type Field } from './read-schema.ts';
import { type Draft, readDraft } from './schema-form.tsx';

/** `rest`: values that the schema does not name. They stay as they are. */
export type ObjectDraft =
  | { as: 'json'; text: string }
  | { as: 'form'; fields: readonly Field[]; texts: Draft; rest: Readonly<Record<string, unknown>> };

/** The fields of a schema without its defaults: the graph fills what an assistant or a run leaves out. */
const optionalFieldsOf = (schema: unknown): Field[] =>
  fieldsOf(schema).map(({ description, default: given, ...field }) => ({
    ...field,
    isRequired: false,
    default: undefined,
    description: [description, given === undefined ? '' : `Default: ${JSON.stringify(given)}`]
      .filter((sentence) => sentence !== '')
      .join(' '),
  }));

/** The text of a value in its field; undefined when the field cannot show it. */
const textOf = ({ kind, choices }: Field, value: unknown): string | undefined => {
  switch (kind) {
    case 'json':
      return formatJson(value);
    case 'text':
      return typeof value === 'string' && value !== '' ? value : undefined;
    case 'choice':
      return typeof value === 'string' && choices.includes(value) ? value : undefined;
    case 'number':
    case 'boolean':
      return typeof value === kind ? String(value) : undefined;
  }
};

const asForm = (value: Record<string, unknown>, schema: unknown): ObjectDraft | undefined => {
  const fields = optionalFieldsOf(schema);
  if (fields.length === 0 || mayBeRounded(value)) return undefined;
  const rest = { ...value };
  const texts: Record<string, string> = {};
  for (const field of fields) {
    const { [field.name]: one } = value;
    delete rest[field.name];
    if (one === undefined) continue;
    const text = textOf(field, one);
    if (text === undefined) return undefined;
    texts[field.name] = text;
  }
  return { as: 'form', fields, texts, rest };
};

/**
 * The schema for the first draft of configurable values. Engines report the schema of the context also as theirs; then the context has the
 * form, and configurable values begin as JSON.
 */
export const configurableSchema = (schemas: GraphSchemas | undefined): unknown =>
  isObject(schemas?.context_schema) ? undefined : schemas?.config_schema;

const isEmpty = (value: unknown): boolean => isObject(value) && Object.keys(value).length === 0;

/** The draft of a value; a form if the schema has one for it. */
export const objectDraft = (value: unknown, schema: unknown): ObjectDraft =>
  (value === undefined || isObject(value) ? asForm(value ?? {}, schema) : undefined) ?? asJson(value);

const asJson = (value: unknown): ObjectDraft => ({
  as: 'json',
  text: isEmpty(value) ? '' : formatJson(value),
});

/** The same draft in the other form; undefined when it has none. */
export const otherDraft = (draft: ObjectDraft, schema: unknown): ObjectDraft | undefined => {
  const read = readObject(draft);
  if ('problem' in read) return undefined;
  if (draft.as === 'form') return asJson(read.value);
  return read.value === undefined || isObject(read.value) ? asForm(read.value ?? {}, schema) : undefined;
};

/** The value that a draft describes, which is undefined for an empty one, or why it describes none. */
export const readObject = (draft: ObjectDraft): { value: unknown } | { problem: string } => {
  if (draft.as === 'json') return readExactJson(draft.text);
  const read = readDraft(draft.fields, draft.texts);
  if ('problem' in read) return read;
  const value = { ...draft.rest, ...read.value };
  return { value: isEmpty(value) ? undefined : value };
};
