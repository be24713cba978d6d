import type { ReactNode } from 'react';
import { Dialog } from '../ui/dialog.tsx';
import { useMenu } from './menu.ts';

const shortcuts = [
  ['Ctrl K', 'Search pages, assistants and ids'],
  ['/', 'Go to the filter'],
  ['j k', 'Next and previous row'],
  ['Enter', 'Open the row'],
  ['Ctrl Enter', 'Send a message or an answer'],
  ['Esc', 'Close'],
] as const;

/** The sheet of all keys. */
export const Help = ({ onClose }: { onClose: () => void }): ReactNode => (
  <Dialog title="Keyboard" onClose={onClose}>
    <dl className="facts">
      {[...useMenu().map(({ key, label }) => [`g ${key}`, `Go to ${label}`] as const), ...shortcuts].map(
        ([keys, meaning]) => (
          <div key={keys} style={{ display: 'contents' }}>
            <dt>
              <kbd className="kbd">{keys}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ),
      )}
    </dl>
  </Dialog>
);
