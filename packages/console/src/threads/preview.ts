import type { Thread } from '@svc/sdk';

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
