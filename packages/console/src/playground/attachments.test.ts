import { expect, it } from 'vitest';
import { attachmentsMax, contentOf, kindOf, withFiles } from './attachments.ts';

const file = (name: string, type: string, size = 1): File =>
  Object.defineProperty(new File(['a'], name, { type }), 'size', { value: size });

it('attaches images, PDF and text files', () => {
  expect(kindOf({ name: 'a.png', type: 'image/png' })).toBe('image');
  expect(kindOf({ name: 'a.pdf', type: 'application/pdf' })).toBe('file');
  expect(kindOf({ name: 'notes.md', type: '' })).toBe('text');
  expect(kindOf({ name: 'a.svg', type: 'image/svg+xml' })).toBeUndefined();
});

it('names the file or the limit when files cannot be attached', async () => {
  await expect(withFiles([], [file('a.zip', 'application/zip')])).rejects.toThrow('a.zip cannot be attached');
  const attached = [{ name: 'b.txt', bytes: attachmentsMax, block: {} }];
  await expect(withFiles(attached, [file('c.txt', 'text/plain')])).rejects.toThrow(
    'may have 10.0 MB together, and these have 10.0 MB',
  );
  expect(await withFiles([], [file('c.txt', 'text/plain')])).toEqual([
    { name: 'c.txt', bytes: 1, block: { type: 'text', text: 'c.txt:\na' } },
  ]);
});

it('writes the text of a message before its files', () => {
  expect(contentOf('hello', [])).toBe('hello');
  const attached = [{ name: 'a', bytes: 1, block: { type: 'image' } }];
  expect(contentOf('hello', attached)).toEqual([{ type: 'text', text: 'hello' }, { type: 'image' }]);
  expect(contentOf(' ', attached)).toEqual([{ type: 'image' }]);
});
