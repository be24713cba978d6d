import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { JsonField } from '../values/json-field.tsx';
import { JsonTree } from '../values/json-tree.tsx';
import { type ObjectDraft, otherDraft } from './object-draft.ts';
import { SchemaForm } from './schema-form.tsx';

/** An object as a form of its schema's fields, or as JSON, with a button that changes between both. */
export const ObjectFields = ({
  label,
  schema,
  draft,
  problem,
  onChange,
  onSubmit,
}: {
  label: string;
  schema: unknown;
  draft: ObjectDraft;
  /** Why the server has refused it. */
  problem?: string | undefined;
  onChange: (draft: ObjectDraft) => void;
  /** Called at Ctrl Enter. */
  onSubmit?: () => void;
}): ReactNode => {
  const other = otherDraft(draft, schema);
  const names = draft.as === 'form' ? Object.keys(draft.rest) : [];
  return (
    <fieldset>
      <legend>{label}</legend>
      {draft.as === 'form' ? (
        <SchemaForm
          fields={draft.fields}
          isLong
          draft={draft.texts}
          onChange={(texts) => onChange({ ...draft, texts })}
        />
      ) : (
        <>
          <JsonField
            label={`${label}, as JSON`}
            value={draft.text}
            problem={problem}
            onChange={(text) => onChange({ as: 'json', text })}
            {...(onSubmit && { onSubmit })}
            rows={4}
          />
          {schema !== null && schema !== undefined && (
            <details>
              <summary className="muted">Schema of {label.toLowerCase()}</summary>
              <JsonTree value={schema} openDepth={2} />
            </details>
          )}
        </>
      )}
      {draft.as === 'form' && problem !== undefined && (
        <p className="form-problem" role="alert">
          {problem}
        </p>
      )}
      {other && (
        <div>
          <Button onClick={() => onChange(other)}>
            {other.as === 'json'
              ? `Edit ${label.toLowerCase()} as JSON`
              : `Edit ${label.toLowerCase()} in a form`}
          </Button>
        </div>
      )}
      {names.length > 0 && (
        <p className="muted">
          Also set, and not in the schema: {names.map((name) => visibleText(name)).join(', ')}
        </p>
      )}
    </fieldset>
  );
};
