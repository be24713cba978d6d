// The spans of two traces in one list, with the differences of their times and tokens.
import type { KeyboardEvent, ReactNode } from 'react';
import { traceOutcome } from '../api/statuses.ts';
import { duration } from '../ui/duration.ts';
import { tokensOf } from '../ui/number-text.ts';
import { visibleText } from '../ui/visible-text.ts';
import type { SpanPair } from './span-pairs.ts';
import { SpanScroll } from './span-scroll.tsx';
import type { Span, SpanTable } from './span-table.ts';

const depthMax = 24;
const nameMax = 120;

export interface PairedTraces {
  left: SpanTable;
  right: SpanTable;
  pairs: readonly SpanPair[];
}

export const spansOf = ({ left, right }: PairedTraces, pair: SpanPair | undefined) => ({
  left: pair?.left === undefined ? undefined : left.spans[pair.left],
  right: pair?.right === undefined ? undefined : right.spans[pair.right],
});

export const PairList = ({
  traces,
  selected,
  onSelect,
}: {
  traces: PairedTraces;
  selected: number;
  onSelect: (row: number) => void;
}): ReactNode => {
  const { pairs } = traces;
  const move = (event: KeyboardEvent): void => {
    const steps: Record<string, number> = {
      ArrowDown: 1,
      j: 1,
      ArrowUp: -1,
      k: -1,
      PageDown: 20,
      PageUp: -20,
    };
    const step = steps[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    onSelect(Math.min(pairs.length - 1, Math.max(0, selected + step)));
  };
  return (
    <section className="span-list" aria-label="Spans">
      <div className="span-head pair-row" aria-hidden="true">
        <span>Span</span>
        <span>Took, left</span>
        <span>right</span>
        <span>Tokens, left</span>
        <span>right</span>
      </div>
      <SpanScroll
        role="listbox"
        label="Spans of both traces"
        count={pairs.length}
        active={selected}
        activeId={`pair-${selected}`}
        onKeyDown={move}
        row={(row, top) => (
          <PairRow
            key={row}
            row={row}
            top={top}
            depth={pairs[row]?.depth ?? 0}
            {...spansOf(traces, pairs[row])}
            isSelected={row === selected}
            onSelect={onSelect}
          />
        )}
      />
    </section>
  );
};

const PairRow = ({
  row,
  top,
  depth,
  left,
  right,
  isSelected,
  onSelect,
}: {
  row: number;
  top: number;
  depth: number;
  left: Span | undefined;
  right: Span | undefined;
  isSelected: boolean;
  onSelect: (row: number) => void;
}): ReactNode => {
  const name = (left ?? right)?.run.name ?? '';
  const side = left === undefined ? 'only right' : right === undefined ? 'only left' : undefined;
  const [before, after] = [tookOf(left), tookOf(right)];
  return (
    <div
      id={`pair-${row}`}
      role="option"
      className="span-row pair-row"
      aria-selected={isSelected}
      data-side={side}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => onSelect(row)}
    >
      <span className="span-name" style={{ paddingLeft: 16 + Math.min(depth, depthMax) * 14 }}>
        <span className="span-title">{visibleText(name.slice(0, nameMax))}</span>
        {side !== undefined && <span className="muted">{side}</span>}
        {left && right && traceOutcome(left.run) !== traceOutcome(right.run) && (
          <span className="muted">
            {traceOutcome(left.run)}, {traceOutcome(right.run)}
          </span>
        )}
      </span>
      <span className="span-figure">{before === undefined ? '' : duration(before)}</span>
      <span className="span-figure" data-change={changeOf(before, after)}>
        {after === undefined ? '' : duration(after)}
      </span>
      <span className="span-figure">{tokensOf(left?.run.total_tokens)}</span>
      <span className="span-figure" data-change={changeOf(left?.run.total_tokens, right?.run.total_tokens)}>
        {tokensOf(right?.run.total_tokens)}
      </span>
    </div>
  );
};

const tookOf = (span: Span | undefined): number | undefined => span && span.endMs - span.startMs;

/** A difference of less than a tenth is not marked. */
const changeOf = (
  before: number | null | undefined,
  after: number | null | undefined,
): 'more' | 'less' | undefined => {
  if (typeof before !== 'number' || typeof after !== 'number') return undefined;
  if (after > before * 1.1) return 'more';
  return after < before * 0.9 ? 'less' : undefined;
};
