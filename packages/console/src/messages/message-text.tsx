import { useState, type ReactNode } from 'react';
import { Markdown } from '../values/markdown.tsx';

/** A longer text is cut: the browser would need seconds to lay it out. */
const charsMax = 50_000;

export const MessageText = ({ text }: { text: string }): ReactNode => {
  const [isWhole, setWhole] = useState(false);
  if (isWhole || text.length <= charsMax) return <Markdown text={text} />;
  return (
    <>
      <Markdown text={text.slice(0, charsMax)} />
      <button type="button" className="button" data-kind="plain" onClick={() => setWhole(true)}>
        {text.length - charsMax} more characters
      </button>
    </>
  );
};
