// The rows of a trace: names as a tree, and times as bars. One list draws both, so that they cannot drift apart.
import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { SpanRow } from './span-row.tsx';
import { SpanScroll } from './span-scroll.tsx';
import {
  ancestorsOf,
  hasChildren,
  matchingRows,
  nextError,
  visibleRows,
  type SpanTable,
} from './span-table.ts';
import { Button } from '../ui/button.tsx';

/** The selection follows the keys at once; its payloads are read when the keys rest. */
const settleMs = 150;

interface SpanTreeProps {
  table: SpanTable;
  selected: number;
  text: string;
  onSelect: (id: string) => void;
  onText: (text: string) => void;
}

export const SpanTree = ({ table, selected, text, onSelect, onText }: SpanTreeProps): ReactNode => {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [active, select] = useActive(table, selected, onSelect);
  const { rows, matches } = useMemo(
    () =>
      text === '' ? { rows: visibleRows(table, closed), matches: undefined } : matchingRows(table, text),
    [table, closed, text],
  );
  const at = rows.indexOf(active);
  const open = (ids: readonly string[], isOpen: boolean): void =>
    setClosed((before) => {
      const next = new Set(before);
      for (const id of ids)
        if (isOpen) next.delete(id);
        else next.add(id);
      return next;
    });
  const goToError = (): void => {
    const found = nextError(table, active);
    if (found === undefined) return;
    open(ancestorsOf(table, found), true);
    if (text !== '') onText('');
    select(found);
  };
  const handleKey = useTreeKeys({ table, rows, at, closed, select, open, goToError });
  const hasErrors = useMemo(() => nextError(table, -1) !== undefined, [table]);
  return (
    <section className="span-list" aria-label="Spans">
      <div className="span-tools">
        <FindField text={text} found={matches?.size} onText={onText} />
        <Button disabled={!hasErrors} title="Key ! in the tree" onClick={goToError}>
          Next error
        </Button>
      </div>
      <div className="span-head" aria-hidden="true">
        <span>Span</span>
        <span>Took</span>
        <span>Tokens</span>
        <span>Cost</span>
        <span>Time</span>
      </div>
      <SpanScroll
        role="tree"
        label="Spans of the trace"
        count={rows.length}
        active={at}
        activeId={`span-${active}`}
        onKeyDown={handleKey}
        row={(row, top) => (
          <PlacedSpan
            key={table.spans[rows[row] ?? -1]?.run.id}
            table={table}
            index={rows[row] ?? -1}
            top={top}
            isSelected={rows[row] === active}
            matches={matches}
            closed={closed}
            onSelect={select}
            onOpen={open}
          />
        )}
      />
    </section>
  );
};

const PlacedSpan = ({
  table,
  index,
  top,
  isSelected,
  matches,
  closed,
  onSelect,
  onOpen,
}: {
  table: SpanTable;
  index: number;
  top: number;
  isSelected: boolean;
  /** The spans that the search has found; undefined without a search. */
  matches: ReadonlySet<number> | undefined;
  closed: ReadonlySet<string>;
  onSelect: (index: number) => void;
  onOpen: (ids: readonly string[], isOpen: boolean) => void;
}): ReactNode => {
  const span = table.spans[index];
  if (span === undefined) return null;
  const { id } = span.run;
  // A search shows the ancestors of what it finds as open.
  const isOpen = matches !== undefined || !closed.has(id);
  return (
    <SpanRow
      id={`span-${index}`}
      table={table}
      span={span}
      top={top}
      isSelected={isSelected}
      isMatch={matches?.has(index) === true}
      isOpen={hasChildren(span, index) ? isOpen : undefined}
      onSelect={() => onSelect(index)}
      onToggle={() => onOpen([id], !isOpen)}
    />
  );
};

/** The selected row. It changes at once, and is reported after a moment without a further change. */
const useActive = (
  table: SpanTable,
  selected: number,
  onSelect: (id: string) => void,
): [number, (index: number) => void] => {
  const [active, setActive] = useState(selected);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => setActive(selected), [selected]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const select = (index: number): void => {
    setActive(index);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onSelect(table.spans[index]?.run.id ?? ''), settleMs);
  };
  return [active, select];
};

/** The keys of a tree in the ARIA pattern; `!` goes to the next error. */
const useTreeKeys =
  ({
    table,
    rows,
    at,
    closed,
    select,
    open,
    goToError,
  }: {
    table: SpanTable;
    rows: readonly number[];
    at: number;
    closed: ReadonlySet<string>;
    select: (index: number) => void;
    open: (ids: readonly string[], isOpen: boolean) => void;
    goToError: () => void;
  }) =>
  (event: KeyboardEvent): void => {
    const index = rows[at];
    const span = index === undefined ? undefined : table.spans[index];
    const goTo = (row: number): void => {
      const target = rows[Math.min(rows.length - 1, Math.max(0, row))];
      if (target !== undefined) select(target);
    };
    const isOpen = span && index !== undefined && hasChildren(span, index) && !closed.has(span.run.id);
    const actions: Record<string, () => void> = {
      ArrowDown: () => goTo(at + 1),
      ArrowUp: () => goTo(at - 1),
      j: () => goTo(at + 1),
      k: () => goTo(at - 1),
      PageDown: () => goTo(at + 20),
      PageUp: () => goTo(at - 20),
      Home: () => goTo(0),
      End: () => goTo(rows.length - 1),
      ArrowRight: () => span && (isOpen ? goTo(at + 1) : open([span.run.id], true)),
      ArrowLeft: () => {
        if (!span) return;
        if (isOpen) open([span.run.id], false);
        else if (span.parent >= 0) select(span.parent);
      },
      '!': goToError,
    };
    const action = actions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  };

const FindField = ({
  text,
  found,
  onText,
}: {
  text: string;
  found: number | undefined;
  onText: (text: string) => void;
}): ReactNode => {
  const [typed, setTyped] = useState(text);
  useEffect(() => setTyped(text), [text]);
  return (
    <>
      <input
        className="field"
        data-filter
        type="search"
        aria-label="Find spans by name, type or error"
        placeholder="name, type or error"
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          onText(event.target.value);
        }}
      />
      <span className="muted" role="status">
        {found !== undefined && `${found} found`}
      </span>
    </>
  );
};
