// Keys of every page. They do nothing while a field, a dialog or a modifier key is used.
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useMenu } from './menu.ts';

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  target.closest('input, textarea, select, dialog, [contenteditable]') !== null;

/** `g` and a letter open a page. */
const sequenceMs = 1_000;

export const useShortcuts = ({ onPalette, onHelp }: { onPalette: () => void; onHelp: () => void }): void => {
  const navigate = useNavigate();
  const menu = useMenu();
  useEffect(() => {
    let goAtMs = -Infinity;
    const listen = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && event.key === 'k') {
        event.preventDefault();
        onPalette();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (event.key === '?') onHelp();
      else if (event.key === '/') focusFilter(event);
      else if (event.key === 'j' || event.key === 'k') moveFocus(event.key === 'j' ? 1 : -1);
      else if (event.key === 'g') {
        goAtMs = performance.now();
        return;
      } else if (performance.now() - goAtMs < sequenceMs) {
        const page = menu.find(({ key }) => key === event.key);
        if (page) void navigate({ to: page.to });
      } else answer(event);
      goAtMs = -Infinity;
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, [navigate, menu, onPalette, onHelp]);
};

const focusFilter = (event: KeyboardEvent): void => {
  const filter = document.querySelector<HTMLElement>('[data-filter]');
  if (!filter) return;
  event.preventDefault();
  filter.focus();
};

/** Moves along the rows of the page's list. */
const moveFocus = (step: number): void => {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')];
  const current = rows.indexOf(document.activeElement as HTMLElement);
  rows[Math.min(rows.length - 1, Math.max(0, current + step))]?.focus();
};

/** Presses the first button of a question with this key, or goes to the field of its answer. */
const answer = (event: KeyboardEvent): void => {
  if (!['a', 'e', 'r'].includes(event.key)) return;
  const target = document.querySelector<HTMLElement>(`[data-answer-key="${event.key}"]:not(:disabled)`);
  if (!target) return;
  event.preventDefault();
  if (target instanceof HTMLButtonElement) target.click();
  else target.querySelector<HTMLElement>('textarea, input')?.focus();
};
