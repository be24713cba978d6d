import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { tickWhileVisible, type VisiblePage } from './use-now.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const startPage = () => {
  const page = Object.assign(new EventTarget(), { visibilityState: 'visible' as 'visible' | 'hidden' });
  const onTick = vi.fn();
  const stop = tickWhileVisible(page as VisiblePage, onTick);
  const show = (state: 'visible' | 'hidden'): void => {
    page.visibilityState = state;
    page.dispatchEvent(new Event('visibilitychange'));
  };
  return { onTick, show, stop };
};

it('ticks every ten seconds until it is stopped', () => {
  const { onTick, stop } = startPage();
  vi.advanceTimersByTime(30_000);
  expect(onTick).toHaveBeenCalledTimes(3);
  stop();
  expect(vi.getTimerCount()).toBe(0);
});

it('does not tick while the page is hidden, and ticks at once when it is shown again', () => {
  const { onTick, show, stop } = startPage();
  show('hidden');
  vi.advanceTimersByTime(60_000);
  expect(onTick).not.toHaveBeenCalled();
  show('visible');
  expect(onTick).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(10_000);
  expect(onTick).toHaveBeenCalledTimes(2);
  stop();
  show('visible');
  expect(onTick).toHaveBeenCalledTimes(2);
});
