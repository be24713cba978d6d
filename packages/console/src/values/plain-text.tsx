import { useState, type ReactNode } from 'react';
import { visibleText } from './visible-text.ts';
import './markdown.css';

const charsMax = 4_000;

/** A text with its line breaks, without Markdown. A long one is cut. */
export const PlainText = ({ text }: { text: string }): ReactNode => {
  const [isWhole, setWhole] = useState(false);
  const isCut = !isWhole && text.length > charsMax;
  return (
    <div className="markdown plain-text" dir="auto">
      {text === '' ? (
        <span className="muted">empty text</span>
      ) : (
        visibleText(isCut ? text.slice(0, charsMax) : text)
      )}
      {isCut && (
        <button type="button" className="button" data-kind="plain" onClick={() => setWhole(true)}>
          {text.length - charsMax} more characters
        </button>
      )}
    </div>
  );
};
