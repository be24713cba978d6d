import type { ReactNode } from 'react';

/** Buttons of which any number may be pressed; none stands for all statuses. */
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
