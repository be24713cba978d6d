// What a list is filtered by: texts, statuses and choices.
import { useEffect, useId, useState, type InputHTMLAttributes, type ReactNode } from 'react';
import { Options, type Choices } from './form-field.tsx';
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

/** A button for each status. Any number may be pressed; when none is, all statuses are shown. */
export const StatusChips = <Status extends string>({
  label = 'Status',
  statuses,
  names,
  chosen = [],
  onChange,
}: {
  label?: string;
  statuses: readonly Status[];
  /** Where statuses are shown by other words. */
  names?: Readonly<Record<Status, string>>;
  chosen: readonly Status[] | undefined;
  onChange: (chosen: Status[] | undefined) => void;
}): ReactNode => (
  <div className="chips" role="group" aria-label={label}>
    {statuses.map((status) => {
      const isOn = chosen.includes(status);
      const next = isOn ? chosen.filter((one) => one !== status) : [...chosen, status];
      return (
        <button
          key={status}
          type="button"
          className="chip"
          aria-pressed={isOn}
          onClick={() => onChange(next.length > 0 ? next : undefined)}
        >
          {names?.[status] ?? status}
        </button>
      );
    })}
  </div>
);

/** A button for each choice. At most one is pressed. */
export const ChoiceChips = <Value extends string>({
  label,
  className = '',
  choices,
  chosen,
  onChange,
}: {
  label: string;
  className?: string;
  choices: readonly (readonly [value: Value, label: string])[];
  chosen: Value | undefined;
  onChange: (value: Value) => void;
}): ReactNode => (
  <div className={`chips ${className}`} role="group" aria-label={label}>
    {choices.map(([value, text]) => (
      <button
        key={value}
        type="button"
        className="chip"
        aria-pressed={value === chosen}
        onClick={() => onChange(value)}
      >
        {text}
      </button>
    ))}
  </div>
);

/** A select with one value. `all`: the label of the option that filters nothing. */
export const FilterSelect = ({
  label,
  all,
  choices,
  chosen,
  onChange,
}: {
  label: string;
  all?: string;
  choices: Choices;
  chosen: string | undefined;
  onChange: (value: string | undefined) => void;
}): ReactNode => (
  <select
    className="field"
    aria-label={label}
    value={chosen ?? ''}
    onChange={(event) => onChange(event.target.value || undefined)}
  >
    {all !== undefined && <option value="">{all}</option>}
    <Options of={choices} />
  </select>
);
