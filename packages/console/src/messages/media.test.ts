import { expect, it } from 'vitest';
import { isImage, mediaOf } from './media.ts';
import { readMessage } from './read-messages.ts';

const png = 'iVBORw0KGgo=';
const url = `data:image/png;base64,${png}`;

it.each([
  [{ type: 'image_url', image_url: { url } }],
  [{ type: 'image_url', image_url: url }],
  [{ type: 'input_image', image_url: url }],
  [{ type: 'image', url }],
  [{ type: 'image', data: png, mime_type: 'image/png' }],
  [{ type: 'image', data: png, mimeType: 'image/png' }],
  [{ type: 'image', base64: png, mime_type: 'image/png', source_type: 'base64' }],
  [{ type: 'image', data: png }],
  [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }],
  [{ type: 'file', data: png, mimeType: 'image/png' }],
  [{ type: 'media', data: png, mimeType: 'image/png' }],
])('the image %j is shown', (part) => {
  const media = mediaOf(part);
  expect(media).toMatchObject({ kind: 'image', data: url, link: undefined });
  expect(media && isImage(media)).toBe(true);
});

it.each([
  [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }, 'image'],
  [{ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }, 'image'],
  [{ type: 'image', source_type: 'url', url: 'https://example.com/a.png' }, 'image'],
  [{ type: 'input_file', file_url: 'https://example.com/a.png' }, 'file'],
])('%j is a link', (part, kind) => {
  expect(mediaOf(part)).toMatchObject({ kind, data: undefined, link: 'https://example.com/a.png' });
});

it.each([
  [
    { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
    { kind: 'audio', data: 'data:audio/wav;base64,AAAA' },
  ],
  [
    { type: 'audio', base64: 'AAAA' },
    { kind: 'audio', data: 'data:audio/mpeg;base64,AAAA' },
  ],
  [
    { type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA', filename: 'a.pdf' } },
    { kind: 'file', data: 'data:application/pdf;base64,AAAA', name: 'a.pdf' },
  ],
  [
    { type: 'document', title: 'A', source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' } },
    { kind: 'file', data: 'data:application/pdf;base64,AAAA', name: 'A' },
  ],
  [
    { type: 'file', file: { file_id: 'file-7' } },
    { kind: 'file', data: undefined, name: 'file-7' },
  ],
  [
    { type: 'file', data: 'AAAA', mime_type: 'text/html,<b>' },
    { data: 'data:application/octet-stream;base64,AAAA' },
  ],
  [{ type: 'image', data: '"><b>' }, { data: undefined }],
  [
    { type: 'image', url: 'javascript:alert(1)' },
    { data: undefined, link: undefined },
  ],
  [{ type: 'image' }, { kind: 'image', data: undefined, link: undefined, name: undefined }],
])('%j has what is known of it', (part, expected) => {
  expect(mediaOf(part)).toMatchObject(expected);
});

it('texts and calls of tools are no media, and a message has its media in their order', () => {
  expect([{ type: 'text', text: 'x' }, { type: 'tool_use' }, {}].map(mediaOf)).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  const message = readMessage({
    type: 'human',
    content: [
      { type: 'text', text: 'Look' },
      { type: 'image', url },
      { type: 'audio', base64: 'AAAA' },
    ],
  });
  expect(message).toMatchObject({ text: 'Look', media: [{ kind: 'image' }, { kind: 'audio' }] });
});
