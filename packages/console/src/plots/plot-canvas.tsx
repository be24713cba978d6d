// The canvas of a plot. Loaded on demand, because uPlot is part of no page's first content.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef, useSyncExternalStore, type ReactNode } from 'react';
import { readColors } from './plot-colors.ts';
import { plotOptions, type PlotContent } from './plot-options.ts';
import { plotData, stepsOf } from './plot-series.ts';
import { usePreference } from '../ui/preferences.ts';

export interface PlotCanvasProps {
  content: PlotContent;
  syncKey: string | undefined;
  onCursor: (index: number | undefined) => void;
  onPick: ((fromMs: number, toMs: number) => void) | undefined;
}

const dataOf = ({ kind, series, ...buckets }: PlotContent): uPlot.AlignedData =>
  plotData(kind, buckets, series);

/** The table of the plot has what it shows: the canvas is hidden from screen readers. */
export const PlotCanvas = (props: PlotCanvasProps): ReactNode => {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const latest = useRef(props);
  const scheme = useColorScheme();
  const { content, syncKey } = props;
  const { kind, series, times, bucketMs, unit, steps } = content;
  // uPlot takes other data in place. For other series, steps or colours it is created anew.
  const structure = JSON.stringify([
    kind,
    series.map(({ label, tone, isDashed }) => [label, tone, isDashed]),
    steps ?? stepsOf(series),
  ]);
  useEffect(() => {
    latest.current = props;
  });
  useEffect(() => {
    const { current: box } = host;
    if (!box) return undefined;
    const sizeOf = () => ({ width: box.clientWidth, height: box.clientHeight });
    const options = plotOptions(sizeOf(), {
      content: () => latest.current.content,
      colors: readColors(box),
      font: `11px ${getComputedStyle(box).fontFamily}`,
      syncKey,
      onCursor: (index) => latest.current.onCursor(index),
    });
    const created = new uPlot(options, dataOf(latest.current.content), box);
    plot.current = created;
    const onClick = (): void => {
      const { content: shown, onPick } = latest.current;
      const fromMs = shown.times[created.cursor.idx ?? -1];
      if (fromMs !== undefined) onPick?.(fromMs, fromMs + shown.bucketMs);
    };
    created.over.addEventListener('click', onClick);
    const resizes = new ResizeObserver(() => created.setSize(sizeOf()));
    resizes.observe(box);
    return () => {
      resizes.disconnect();
      created.destroy();
      latest.current.onCursor(undefined);
      plot.current = undefined;
    };
  }, [structure, scheme, syncKey]);
  useEffect(() => {
    plot.current?.setData(dataOf(latest.current.content));
  }, [times, bucketMs, series, unit]);
  return (
    <div ref={host} className="plot-canvas" data-picks={props.onPick ? '' : undefined} aria-hidden="true" />
  );
};

const dark = '(prefers-color-scheme: dark)';

const subscribe = (listener: () => void): (() => void) => {
  const query = matchMedia(dark);
  query.addEventListener('change', listener);
  return () => query.removeEventListener('change', listener);
};

/** Changes when the person, or the system, changes between light and dark. */
const useColorScheme = (): 'light' | 'dark' => {
  const ofSystem = useSyncExternalStore(subscribe, () => (matchMedia(dark).matches ? 'dark' : 'light'));
  const chosen = usePreference('colors');
  return chosen === 'system' ? ofSystem : chosen;
};
