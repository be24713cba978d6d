import { useEffect, useState, type InputHTMLAttributes, type ReactNode } from 'react';

/** A filter that is applied by Enter, or when the focus leaves the field. Empty text is no filter. */
export const FilterField = ({
  text: given,
  onChange,
  ...input
}: {
  text: string | undefined;
  onChange: (text: string | undefined) => void;
} & Pick<InputHTMLAttributes<HTMLInputElement>, 'placeholder' | 'aria-label' | 'size'> & {
    'data-filter'?: true;
  }): ReactNode => {
  const [text, setText] = useState(given ?? '');
  // The address changes by links too.
  useEffect(() => setText(given ?? ''), [given]);
  const apply = (): void => {
    const changed = text.trim() || undefined;
    if (changed !== given) onChange(changed);
  };
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
