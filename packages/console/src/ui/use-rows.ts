// The rows of a long list that are in view: only these are in the page. All rows have one height.
import { useCallback, useEffect, useRef, useState, type RefObject } from 'react';

export interface RowWindow {
  /** The element that scrolls. */
  ref: RefObject<HTMLDivElement | null>;
  /** The first and the last row to draw, without the last. */
  from: number;
  to: number;
  /** Scrolls as little as needed to show a row. */
  show: (row: number) => void;
}

/** Rows outside the view that are drawn too, so that fast scrolling shows no gaps. */
const margin = 12;

export const useRows = ({ count, rowHeight }: { count: number; rowHeight: number }): RowWindow => {
  const ref = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ first: 0, size: 40 });
  useEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    const measure = (): void => {
      const first = Math.floor(element.scrollTop / rowHeight);
      const size = Math.ceil(element.clientHeight / rowHeight) + 1;
      setView((before) => (before.first === first && before.size === size ? before : { first, size }));
    };
    measure();
    const resized = new ResizeObserver(measure);
    resized.observe(element);
    element.addEventListener('scroll', measure, { passive: true });
    return () => {
      resized.disconnect();
      element.removeEventListener('scroll', measure);
    };
  }, [rowHeight]);
  const show = useCallback(
    (row: number) => {
      const element = ref.current;
      if (!element) return;
      const top = row * rowHeight;
      const height = element.clientHeight;
      if (top < element.scrollTop) element.scrollTop = top;
      else if (top + rowHeight > element.scrollTop + height) element.scrollTop = top + rowHeight - height;
    },
    [rowHeight],
  );
  const from = Math.max(0, Math.min(view.first, count - 1) - margin);
  return { ref, from, to: Math.min(count, view.first + view.size + margin), show };
};
