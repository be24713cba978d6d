import { useState, type ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { visibleText } from '../ui/visible-text.ts';
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
        <Button kind="plain" onClick={() => setWhole(true)}>
          {text.length - charsMax} more characters
        </Button>
      )}
    </div>
  );
};
