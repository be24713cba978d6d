import { useEffect, useId, useState, type InputHTMLAttributes, type ReactNode } from 'react';
import './form.css';

/** A filter that is applied by Enter, or when the focus leaves the field. Empty text is no filter. */
export const FilterField = ({
  text: given,
  problemOf,
  onChange,
  onEditing,
  appliesOnBlur = true,
  ...input
}: {
  text: string | undefined;
  /** What is wrong with a text that was applied. */
  problemOf?: (text: string) => string | undefined;
  onChange: (text: string | undefined) => void;
  /** Called with whether the field has a text that is not applied yet. */
  onEditing?: (isEditing: boolean) => void;
  appliesOnBlur?: boolean;
} & Pick<InputHTMLAttributes<HTMLInputElement>, 'className' | 'placeholder' | 'aria-label' | 'size'> & {
    'data-filter'?: true;
  }): ReactNode => {
  const id = useId();
  const [text, setText] = useState(given ?? '');
  // The address changes by links too.
  useEffect(() => setText(given ?? ''), [given]);
  const isEditing = text.trim() !== (given ?? '');
  useEffect(() => onEditing?.(isEditing), [onEditing, isEditing]);
  const problem = isEditing || given === undefined ? undefined : problemOf?.(given);
  const apply = (): void => {
    if (isEditing) onChange(text.trim() || undefined);
  };
  return (
    <form
      className="filter-field"
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <input
        className="field"
        {...input}
        spellCheck={false}
        value={text}
        aria-invalid={problem !== undefined}
        aria-describedby={problem === undefined ? undefined : id}
        onChange={(event) => setText(event.target.value)}
        onBlur={appliesOnBlur ? apply : undefined}
      />
      {problem !== undefined && (
        <p id={id} className="form-problem" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
};
