import { isValidElement, type ComponentProps, type ReactNode } from 'react';
import ReactMarkdown, { defaultUrlTransform } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { CodeBlock } from '../ui/code-block.tsx';
import { visibleText } from '../ui/visible-text.ts';

const plugins = [remarkGfm];

const rasterImage = /^data:image\/(?:png|jpeg|gif|webp);base64,/;

/** Links to web pages and mail addresses; images only when their bytes are in the message. */
const safeUrl = (url: string, attribute: string): string =>
  attribute === 'src' ? (rasterImage.test(url) ? url : '') : defaultUrlTransform(url);

const Link = ({ href, children }: ComponentProps<'a'>): ReactNode => (
  <a href={href} title={href} target="_blank" rel="noopener noreferrer nofollow">
    {children}
  </a>
);

/** The address of a remote image is not shown as an image: to load it would tell its server who reads the message. */
const Picture = ({ src, alt }: ComponentProps<'img'>): ReactNode =>
  typeof src === 'string' && src !== '' ? (
    <img src={src} alt={alt ?? ''} />
  ) : (
    <span className="blocked-image">image not loaded{alt === undefined || alt === '' ? '' : `: ${alt}`}</span>
  );

/** A block of code, with a button that copies it. */
const Code = ({ children }: ComponentProps<'pre'>): ReactNode => {
  const { className = '', children: text } = isValidElement<{ className?: string; children?: ReactNode }>(
    children,
  )
    ? children.props
    : {};
  if (typeof text !== 'string') return <pre>{children}</pre>;
  return (
    <CodeBlock language={/language-(\S+)/.exec(className)?.[1] ?? 'code'} text={text.replace(/\n$/, '')} />
  );
};

const components = { a: Link, img: Picture, pre: Code };

const RenderedMarkdown = ({ text }: { text: string }): ReactNode => (
  <div className="markdown" dir="auto">
    <ReactMarkdown remarkPlugins={plugins} urlTransform={safeUrl} components={components}>
      {visibleText(text)}
    </ReactMarkdown>
  </div>
);

// React.lazy() takes default exports only.
// oxlint-disable-next-line import/no-default-export
export default RenderedMarkdown;
