// Where the focus goes when what had it is gone: a dialog has closed, and the element that opened it may have left the page with it.
// Nowhere, the keyboard would begin at the top of the page again, and a screen reader would say nothing.
import { useEffect } from 'react';

/** Parts of a page that a screen reader names. */
const regions = 'section, aside, [role="region"], main';

/** From the inside to the outside. */
const regionsAround = (element: Element): HTMLElement[] => {
  const region = element.parentElement?.closest<HTMLElement>(regions);
  return region ? [region, ...regionsAround(region)] : [];
};

const isNowhere = (): boolean => document.activeElement === null || document.activeElement === document.body;

const focusOn = (region: HTMLElement | null | undefined): void => {
  if (!region || !isNowhere()) return;
  if (!region.hasAttribute('tabindex')) region.tabIndex = -1;
  region.focus({ preventScroll: true });
};

/** Calls `onRemoved` when the element leaves the page before the person has gone on to another one. */
const watch = (element: HTMLElement, onRemoved: () => void): void => {
  const leave = new AbortController();
  const observer = new MutationObserver(() => {
    if (element.isConnected) return;
    leave.abort();
    onRemoved();
  });
  leave.signal.addEventListener('abort', () => observer.disconnect());
  for (const event of ['focusin', 'pointerdown'])
    document.addEventListener(event, () => leave.abort(), { signal: leave.signal });
  observer.observe(document.body, { childList: true, subtree: true });
};

/**
 * Call it before a dialog opens, and the function that it returns after the dialog has closed. The focus goes back to the element that had
 * it; when that is gone, then or a moment later, to the nearest region around it that is still there.
 */
export const rememberFocus = (): (() => void) => {
  const { activeElement: opener } = document;
  if (!(opener instanceof HTMLElement) || opener === document.body) return () => undefined;
  const around = regionsAround(opener);
  const land = (): void => focusOn(around.find(({ isConnected }) => isConnected));
  return () => {
    if (isNowhere()) opener.focus();
    if (document.activeElement === opener) watch(opener, land);
    else land();
  };
};

/** For a form in place of a page: the page that replaces it gets the focus of its fields. */
export const useFocusOfNextPage = (): void => {
  useEffect(() => () => focusOn(document.getElementById('content')), []);
};
