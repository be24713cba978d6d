// A form of an object's fields. Fields that are empty are not sent.
import { useId, type ReactNode } from 'react';
import { JsonField } from '../values/json-field.tsx';
import { formatJson, readExactJson } from '../values/read-json.ts';
import { visibleText } from '../ui/visible-text.ts';
import type { Field } from './read-schema.ts';

/** What was typed, by field. JSON fields have the text. */
export type Draft = Readonly<Record<string, string>>;

/** What a field shows and sends: a choice that was not touched has the default of its schema, and a required boolean is false. */
const textIn = ({ name, kind, isRequired, default: given }: Field, draft: Draft): string => {
  const isChoice = kind === 'boolean' || kind === 'choice';
  const initial = isChoice && (typeof given === 'string' || typeof given === 'boolean') ? String(given) : '';
  return draft[name] ?? (initial === '' && kind === 'boolean' && isRequired ? 'false' : initial);
};

/** The object that a draft describes, or why it describes none. */
export const readDraft = (
  fields: readonly Field[],
  draft: Draft,
): { value: Record<string, unknown> } | { problem: string } => {
  const value: Record<string, unknown> = {};
  for (const field of fields) {
    const { name, kind, isRequired } = field;
    const text = textIn(field, draft);
    if (text === '' && isRequired) return { problem: `${name} is required.` };
    if (text === '') continue;
    const read =
      kind === 'json' || kind === 'boolean' || kind === 'number' ? readExactJson(text) : { value: text };
    if ('problem' in read) return { problem: `${name}: ${read.problem}` };
    value[name] = read.value;
  }
  return { value };
};

export const SchemaForm = ({
  fields,
  isLong = false,
  draft,
  onChange,
}: {
  fields: readonly Field[];
  /** Texts have fields of several lines, which grow with them. */
  isLong?: boolean;
  draft: Draft;
  onChange: (draft: Draft) => void;
}): ReactNode => (
  <div className="stack">
    {fields.map((field) => (
      <FieldBox
        key={field.name}
        field={field}
        isLong={isLong}
        text={textIn(field, draft)}
        onChange={(text) => onChange({ ...draft, [field.name]: text })}
      />
    ))}
  </div>
);

const FieldBox = ({
  field,
  isLong,
  text,
  onChange,
}: {
  field: Field;
  isLong: boolean;
  text: string;
  onChange: (text: string) => void;
}): ReactNode => {
  const id = useId();
  const label = visibleText(field.name);
  if (field.kind === 'json')
    return (
      <JsonField
        label={field.isRequired ? `${label} (required)` : label}
        value={text}
        onChange={onChange}
        rows={3}
      />
    );
  const common = { id, className: 'field', value: text, 'aria-required': field.isRequired };
  const placeholder = field.default === undefined ? undefined : formatJson(field.default);
  return (
    <div className="stack" style={{ gap: 4 }}>
      <label htmlFor={id}>
        {label}
        {field.isRequired && <span className="muted"> required</span>}
      </label>
      {field.kind === 'choice' || field.kind === 'boolean' ? (
        <select {...common} onChange={(event) => onChange(event.target.value)}>
          {!(field.kind === 'boolean' && field.isRequired) && <option value="">not set</option>}
          {(field.kind === 'boolean' ? ['true', 'false'] : field.choices).map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      ) : isLong && field.kind === 'text' ? (
        <textarea
          {...common}
          dir="auto"
          rows={Math.min(16, text.split('\n').length + Math.floor(text.length / 100))}
          placeholder={placeholder}
          onChange={(event) => onChange(event.target.value)}
        />
      ) : (
        <input
          {...common}
          type={field.kind === 'number' ? 'number' : 'text'}
          step="any"
          placeholder={placeholder}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
      {field.description !== '' && <span className="muted">{visibleText(field.description)}</span>}
    </div>
  );
};
