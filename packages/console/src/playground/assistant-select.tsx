import type { Assistant } from '@svc/sdk';
import type { ReactNode } from 'react';
import { visibleText } from '../ui/visible-text.ts';

export const AssistantSelect = ({
  label,
  assistant,
  all,
  onChange,
}: {
  label: string;
  assistant: Assistant;
  all: readonly Assistant[];
  onChange: (assistantId: string) => void;
}): ReactNode => (
  <select
    className="field"
    data-filter
    aria-label={label}
    value={assistant.assistant_id}
    onChange={(event) => onChange(event.target.value)}
  >
    {all.map(({ assistant_id: id, name, version }) => (
      <option key={id} value={id}>
        {visibleText(name)} v{version}
      </option>
    ))}
  </select>
);
