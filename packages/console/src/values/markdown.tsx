// Markdown of models and users. HTML in it is text, and nothing is loaded from elsewhere.
import { lazy, memo, Suspense, type ReactNode } from 'react';
import { visibleText } from '../ui/visible-text.ts';
import './markdown.css';

const Rendered = lazy(() => import('./rendered-markdown.tsx'));

/** Texts without Markdown do not load the renderer. */
const hasMarkup = /[*_`#>|[\]~<-]|https?:|\d\./;

/** A longer text is shown as it is: rendering it would block the page. */
const charsMax = 100_000;

const MarkdownText = ({ text }: { text: string }): ReactNode => {
  const plain = (
    <div className="markdown plain-text" dir="auto">
      {visibleText(text)}
    </div>
  );
  if (text.length > charsMax || !hasMarkup.test(text)) return plain;
  return (
    <Suspense fallback={plain}>
      <Rendered text={text} />
    </Suspense>
  );
};

/** A page that streams is drawn often, and most of its texts have not changed. */
export const Markdown = memo(MarkdownText);
