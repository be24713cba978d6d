// A field of a form with its label, a hint, and what the server has found wrong with it.
import { useId, type ReactNode } from 'react';
import { visibleText } from './visible-text.ts';
import './form.css';

/** Attributes that connect the control with its label and its sentences. */
interface ControlProps {
  id: string;
  'aria-invalid'?: true;
  'aria-describedby'?: string;
}

const FormField = ({
  label,
  hint,
  problem,
  children,
}: {
  label: string;
  hint?: ReactNode;
  problem?: string | undefined;
  children: (control: ControlProps) => ReactNode;
}): ReactNode => {
  const id = useId();
  const describedBy = [hint !== undefined && `${id}-hint`, problem !== undefined && `${id}-problem`]
    .filter((name) => name !== false)
    .join(' ');
  return (
    <div className="form-field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        ...(problem === undefined ? {} : { 'aria-invalid': true as const }),
        ...(describedBy === '' ? {} : { 'aria-describedby': describedBy }),
      })}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="muted form-hint">
          {hint}
        </p>
      )}
      {problem !== undefined && (
        <p id={`${id}-problem`} className="form-problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
};

const focus = (field: HTMLElement | null): void => field?.focus();

/** A field of one line of text. */
export const TextField = ({
  value,
  onChange,
  type = 'text',
  placeholder,
  autoComplete = 'off',
  isMono = true,
  isFocused = false,
  ...field
}: {
  label: string;
  hint?: ReactNode;
  problem?: string | undefined;
  value: string;
  onChange: (value: string) => void;
  type?: 'text' | 'password' | 'datetime-local' | 'number';
  placeholder?: string;
  autoComplete?: 'off' | 'new-password';
  isMono?: boolean;
  /** For the first field of a form that the user has opened. */
  isFocused?: boolean;
}): ReactNode => (
  <FormField {...field}>
    {(control) => (
      <input
        {...control}
        className={isMono ? 'field mono' : 'field'}
        ref={isFocused ? focus : undefined}
        type={type}
        {...(type === 'datetime-local' ? { step: value.includes('.') ? 0.001 : 1 } : {})}
        placeholder={placeholder}
        autoComplete={autoComplete}
        spellCheck={false}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    )}
  </FormField>
);

/** A field of several lines of text. */
export const AreaField = ({
  value,
  onChange,
  onSubmit,
  ...field
}: {
  label: string;
  hint?: ReactNode;
  problem?: string | undefined;
  value: string;
  onChange: (value: string) => void;
  /** Called at Ctrl Enter. */
  onSubmit: () => void;
}): ReactNode => (
  <FormField {...field}>
    {(control) => (
      <textarea
        {...control}
        className="field"
        dir="auto"
        rows={3}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          onSubmit();
        }}
      />
    )}
  </FormField>
);

/** The options of a select: values with their labels. */
export type Choices = readonly (readonly [value: string, label: string])[];

export const Options = ({ of: choices }: { of: Choices }): ReactNode =>
  choices.map(([value, label]) => (
    <option key={value} value={value}>
      {visibleText(label)}
    </option>
  ));

/** A select. The children are more options, after `choices`. */
export const SelectField = ({
  value,
  choices = [],
  onChange,
  children,
  ...field
}: {
  label: string;
  hint?: ReactNode;
  problem?: string | undefined;
  value: string;
  choices?: Choices;
  onChange: (value: string) => void;
  children?: ReactNode;
}): ReactNode => (
  <FormField {...field}>
    {(control) => (
      <select {...control} className="field" value={value} onChange={(event) => onChange(event.target.value)}>
        <Options of={choices} />
        {children}
      </select>
    )}
  </FormField>
);

/** A checkbox. */
export const CheckField = ({
  label,
  isMono = false,
  isChecked,
  onChange,
}: {
  label: string;
  isMono?: boolean;
  isChecked: boolean;
  onChange: (isChecked: boolean) => void;
}): ReactNode => (
  <label className={isMono ? 'row mono' : 'row'}>
    <input type="checkbox" checked={isChecked} onChange={(event) => onChange(event.target.checked)} />
    {label}
  </label>
);
