// The first words of a conversation in a list of threads. The server reads them: values are not sent.
import type { Thread } from '@svc/sdk';

/** For `extract` of a search of threads. */
export const previewPaths = { last: 'values.messages[-1].content', first: 'values.messages[0].content' };

const charsMax = 200;

const textOf = (content: unknown): string => {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: unknown) => (part as { text?: unknown } | null)?.text)
    .filter((text) => typeof text === 'string')
    .join(' ');
};

/** The first words of the newest message, or of the first one when the newest has no text. */
export const previewOf = ({ extracted = {} }: Pick<Thread, 'extracted'>): string =>
  (textOf(extracted['last']) || textOf(extracted['first'])).replaceAll(/\s+/g, ' ').slice(0, charsMax);
