import { useState, type InputHTMLAttributes, type ReactNode } from 'react';

/** A filter that is applied by Enter, or when the focus leaves the field. Empty text is no filter. */
export const FilterField = ({
  text: given,
  onChange,
  ...input
}: {
  text: string | undefined;
  onChange: (text: string | undefined) => void;
} & Pick<InputHTMLAttributes<HTMLInputElement>, 'placeholder' | 'aria-label'> & {
    'data-filter'?: true;
  }): ReactNode => {
  const [text, setText] = useState(given ?? '');
  const apply = (): void => onChange(text.trim() || undefined);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <input
        className="field"
        {...input}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onBlur={apply}
      />
    </form>
  );
};
