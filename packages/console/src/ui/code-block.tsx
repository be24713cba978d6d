import type { ReactNode } from 'react';
import { CopyText } from './copy.tsx';
import { visibleText } from './visible-text.ts';
import './code-block.css';

/** Code with its language, and a button that copies it. */
export const CodeBlock = ({ language, text }: { language: string; text: string }): ReactNode => (
  <div className="code-block" role="group" aria-label={language}>
    <header className="row">
      <span className="muted">{language}</span>
      <span className="spread">
        <CopyText text={text} shown="Copy" label={language} />
      </span>
    </header>
    <pre className="mono" tabIndex={0}>
      {visibleText(text)}
    </pre>
  </div>
);
