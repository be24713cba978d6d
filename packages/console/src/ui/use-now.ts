import { useEffect, useReducer } from 'react';

/** How often times are written anew while the page is visible. */
const tickMs = 10_000;

export type VisiblePage = Pick<Document, 'visibilityState' | 'addEventListener' | 'removeEventListener'>;

/** Calls `onTick` regularly while the page is visible, and when it becomes visible. Returns the function that stops it. */
export const tickWhileVisible = (page: VisiblePage, onTick: () => void): (() => void) => {
  let timer: ReturnType<typeof setInterval> | undefined;
  const start = (): void => {
    clearInterval(timer);
    if (page.visibilityState === 'visible') timer = setInterval(onTick, tickMs);
  };
  const onChange = (): void => {
    start();
    if (page.visibilityState === 'visible') onTick();
  };
  start();
  page.addEventListener('visibilitychange', onChange);
  return () => {
    clearInterval(timer);
    page.removeEventListener('visibilitychange', onChange);
  };
};

/** The time of the rendering in milliseconds. Renders the component regularly, also when its data does not change. */
export const useNow = (): number => {
  const [, render] = useReducer((count: number) => count + 1, 0);
  useEffect(() => tickWhileVisible(document, render), []);
  return Date.now();
};
