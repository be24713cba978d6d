// The scrolling part of a list of spans: only the rows in view are in the page, and one of them is active.
import { useEffect, type KeyboardEvent, type ReactNode } from 'react';
import { useRows } from '../ui/use-rows.ts';

/** The height of `.span-row`. */
const rowHeight = 26;

export const SpanScroll = ({
  role,
  label,
  count,
  active,
  activeId,
  onKeyDown,
  row,
}: {
  role: 'tree' | 'listbox';
  label: string;
  count: number;
  /** The active row, which is scrolled into view; -1 for none. */
  active: number;
  /** The id of the element of the active row. */
  activeId: string;
  onKeyDown: (event: KeyboardEvent) => void;
  /** `top`: pixels above the row. */
  row: (index: number, top: number) => ReactNode;
}): ReactNode => {
  const { ref, from, to, show } = useRows({ count, rowHeight });
  useEffect(() => {
    if (active >= 0) show(active);
  }, [active, show]);
  return (
    <div
      ref={ref}
      className="span-scroll"
      role={role}
      aria-label={label}
      tabIndex={0}
      aria-activedescendant={active >= from && active < to ? activeId : undefined}
      onKeyDown={onKeyDown}
    >
      <div role="presentation" className="span-rows" style={{ height: count * rowHeight }}>
        {Array.from({ length: Math.max(0, to - from) }, (_, offset) =>
          row(from + offset, (from + offset) * rowHeight),
        )}
      </div>
    </div>
  );
};
