// Files that go with a message, as content blocks of LangChain.

export interface Attachment {
  name: string;
  bytes: number;
  block: Record<string, unknown>;
}

/** Of one message, together. In base64 they stay below the default limit of a request. */
export const attachmentsMax = 10 * 1024 ** 2;

const megabytes = (bytes: number): string => `${(bytes / 1024 ** 2).toFixed(1)} MB`;

/** What the dialog for files offers. */
export const acceptedTypes =
  'image/png,image/jpeg,image/gif,image/webp,application/pdf,text/*,.md,.json,.csv,.log';

const images = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const textEnding = /\.(?:txt|md|json|csv|log|xml|ya?ml|toml|[jt]sx?|py|sql|sh)$/i;

type Kind = 'image' | 'file' | 'text';

/** Undefined for a file that cannot be attached. */
export const kindOf = ({ name, type }: Pick<File, 'name' | 'type'>): Kind | undefined => {
  if (images.has(type)) return 'image';
  if (type === 'application/pdf') return 'file';
  return type.startsWith('text/') || type === 'application/json' || textEnding.test(name)
    ? 'text'
    : undefined;
};

/** Returns the attachments with these files added. Throws an error that names the first file that cannot be attached. */
export const withFiles = async (
  attached: readonly Attachment[],
  files: readonly File[],
): Promise<Attachment[]> => {
  const unknown = files.find((file) => kindOf(file) === undefined);
  if (unknown)
    throw new Error(
      `${unknown.name} cannot be attached: attach images (PNG, JPEG, GIF, WebP), PDF and text files.`,
    );
  const bytes = [...attached.map((one) => one.bytes), ...files.map(({ size }) => size)].reduce(
    (sum, one) => sum + one,
    0,
  );
  if (bytes > attachmentsMax)
    throw new Error(
      `The files of a message may have ${megabytes(attachmentsMax)} together, and these have ${megabytes(bytes)}.`,
    );
  return [...attached, ...(await Promise.all(files.map(read)))];
};

const read = async (file: File): Promise<Attachment> => {
  const { name, type, size: bytes } = file;
  const kind = kindOf(file);
  if (kind === 'text')
    return { name, bytes, block: { type: 'text', text: `${name}:\n${await file.text()}` } };
  const data = await base64Of(file);
  const block = {
    type: kind,
    source_type: 'base64',
    mime_type: type,
    data,
    metadata: { name, filename: name },
  };
  return { name, bytes, block };
};

const base64Of = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => {
      const url = typeof reader.result === 'string' ? reader.result : '';
      resolve(url.slice(url.indexOf(',') + 1));
    });
    reader.addEventListener('error', () => reject(new Error(`${file.name} cannot be read.`)));
    reader.readAsDataURL(file);
  });

/** The content of a message with a text and files. */
export const contentOf = (text: string, attached: readonly Attachment[]): unknown =>
  attached.length === 0
    ? text
    : [...(text.trim() === '' ? [] : [{ type: 'text', text }]), ...attached.map(({ block }) => block)];
