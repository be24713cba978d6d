import { memo, type ReactNode } from 'react';
import { traceOutcome } from '../api/statuses.ts';
import { duration } from '../ui/duration.ts';
import { Icon } from '../ui/icons.tsx';
import { costOf, tokensOf } from '../ui/number-text.ts';
import { visibleText } from '../ui/visible-text.ts';
import type { Span, SpanTable } from './span-table.ts';

const nameMax = 120;
/** Deeper spans are not indented further: their names would leave the row. */
const depthMax = 24;
const barMinPx = 2;

interface SpanRowProps {
  id: string;
  table: SpanTable;
  span: Span;
  top: number;
  isSelected: boolean;
  isMatch: boolean;
  /** Undefined for a span without children. */
  isOpen: boolean | undefined;
  onSelect: () => void;
  onToggle: () => void;
}

const SpanRowView = ({
  id,
  table,
  span,
  top,
  isSelected,
  isMatch,
  isOpen,
  onSelect,
  onToggle,
}: SpanRowProps): ReactNode => {
  const { run, depth, startMs, endMs } = span;
  const total = Math.max(1, table.endMs - table.startMs);
  const outcome = traceOutcome(run);
  return (
    <div
      id={id}
      role="treeitem"
      className="span-row"
      aria-level={depth + 1}
      aria-selected={isSelected}
      aria-expanded={isOpen}
      data-match={isMatch}
      style={{ transform: `translateY(${top}px)` }}
      onClick={onSelect}
    >
      <span className="span-name" style={{ paddingLeft: 8 + Math.min(depth, depthMax) * 14 }}>
        <span
          className="span-toggle"
          data-open={isOpen}
          onClick={(event) => {
            if (isOpen === undefined) return;
            event.stopPropagation();
            onToggle();
          }}
        >
          {isOpen !== undefined && <Icon name="right" size={10} />}
        </span>
        <span className="span-dot" data-status={outcome} />
        <span className="span-title">{visibleText(run.name.slice(0, nameMax))}</span>
        <span className="muted">{visibleText(run.run_type)}</span>
        <span className="visually-hidden">{outcome}</span>
      </span>
      <span className="span-figure">{run.status === 'pending' ? '…' : duration(endMs - startMs)}</span>
      <span className="span-figure">{tokensOf(span.tokens)}</span>
      <span className="span-figure">{costOf(span.cost?.toString())}</span>
      <span className="span-time">
        <span
          className="span-bar"
          data-status={outcome}
          style={{
            // A span at the right end stays visible.
            left: `min(${((startMs - table.startMs) / total) * 100}%, calc(100% - ${barMinPx}px))`,
            minWidth: barMinPx,
            width: `${((endMs - startMs) / total) * 100}%`,
          }}
        />
      </span>
    </div>
  );
};

/** Handlers are new in each rendering, and are not compared: they depend on the other properties only. */
export const SpanRow = memo(
  SpanRowView,
  (before, after) =>
    before.table === after.table &&
    before.span === after.span &&
    before.top === after.top &&
    before.isSelected === after.isSelected &&
    before.isMatch === after.isMatch &&
    before.isOpen === after.isOpen,
);
