import { useId, type ReactNode } from 'react';
import { readExactJson } from './read-json.ts';

/** A text field for JSON that is sent. It says where the text is not JSON, and which integer the browser would round. */
export const JsonField = ({
  label,
  value: text,
  problem: given,
  onChange,
  onSubmit,
  rows = 6,
}: {
  label: string;
  value: string;
  /** Why the JSON cannot be sent. */
  problem?: string | undefined;
  onChange: (value: string) => void;
  /** Called at Ctrl Enter. */
  onSubmit?: () => void;
  rows?: number;
}): ReactNode => {
  const id = useId();
  const read = readExactJson(text);
  const problem = 'problem' in read ? read.problem : given;
  return (
    <div className="stack" style={{ gap: 4 }}>
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        className="field mono"
        rows={rows}
        spellCheck={false}
        value={text}
        aria-invalid={problem !== undefined}
        aria-describedby={problem === undefined ? undefined : `${id}-problem`}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            onSubmit?.();
          }
        }}
      />
      {problem !== undefined && (
        <p id={`${id}-problem`} style={{ color: 'var(--red)' }}>
          {problem}
        </p>
      )}
    </div>
  );
};
