import type { ReactNode } from 'react';
import { visibleText } from '../ui/visible-text.ts';
import { isImage, type Media } from './media.ts';

const names: Record<Media['kind'], string> = { image: 'Image', audio: 'Audio', video: 'Video', file: 'File' };

const charsMax = 200;

const shortText = (text: string): string =>
  visibleText(text.length > charsMax ? `${text.slice(0, charsMax)}…` : text);

/** An image, or a line about something else. The policy of the page plays no audio: its bytes can be saved. */
export const MediaBox = ({ media }: { media: Media }): ReactNode => {
  const { kind, data, link, name } = media;
  if (isImage(media))
    return <img className="message-image" src={data} alt={shortText(name ?? 'In the message')} />;
  return (
    <p className="message-media">
      {names[kind]}
      {name !== undefined && ` ${shortText(name)}`}
      {link !== undefined && (
        <>
          {': '}
          <a href={link} target="_blank" rel="noopener noreferrer nofollow">
            {shortText(link)}
          </a>
        </>
      )}
      {data !== undefined && (
        <>
          {': '}
          <a href={data} download={name ?? kind}>
            Save
          </a>
        </>
      )}
    </p>
  );
};
