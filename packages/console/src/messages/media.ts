// Images, audio, video and files in the content of messages, in the spellings of model APIs and of LangChain.

type Fields = Record<string, unknown>;

export interface Media {
  kind: 'image' | 'audio' | 'video' | 'file';
  /** A `data:` URL with the bytes. */
  data: string | undefined;
  /** A web address. It is never loaded: its server would see who reads the message. */
  link: string | undefined;
  /** The name of the file, or its id at the provider. */
  name: string | undefined;
}

const kinds: ReadonlyMap<unknown, Media['kind']> = new Map([
  ['image', 'image'],
  ['image_url', 'image'],
  ['input_image', 'image'],
  ['audio', 'audio'],
  ['input_audio', 'audio'],
  ['video', 'video'],
  ['video_url', 'video'],
  ['file', 'file'],
  ['input_file', 'file'],
  ['document', 'file'],
  ['media', 'file'],
]);

const defaultTypes: Record<Media['kind'], string> = {
  image: 'image/png', // the browser finds the format of an image itself
  audio: 'audio/mpeg',
  video: 'video/mp4',
  file: 'application/octet-stream',
};

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The first of some fields that is a text. */
const textOf = (fields: Fields, ...names: string[]): string | undefined =>
  names
    .map((name) => fields[name])
    .find((value): value is string => typeof value === 'string' && value !== '');

/** The fields of a part, and those of the object in it that has the content: `image_url`, `input_audio`, `file` or `source`. */
const flattened = (part: Fields): Fields => {
  const type = String(part['type']);
  const inner = [part[type], part['source'], part['image_url']].find((value) => value !== undefined);
  if (typeof inner === 'string') return { ...part, url: inner };
  return isObject(inner) ? { ...part, ...inner } : part;
};

const mimeType = /^[a-z]+\/[\w.+-]+$/i;
const base64 = /^[A-Za-z0-9+/_=\s-]*$/;

const typeOf = (fields: Fields, kind: Media['kind']): string => {
  const given = textOf(fields, 'mime_type', 'mimeType', 'media_type', 'mediaType');
  if (given !== undefined && mimeType.test(given)) return given;
  const format = textOf(fields, 'format');
  const fromFormat = `${kind}/${format}`;
  return format !== undefined && mimeType.test(fromFormat) ? fromFormat : defaultTypes[kind];
};

const kindOfType = (kind: Media['kind'], type: string): Media['kind'] => {
  const [family] = type.split('/');
  return kind === 'file' && (family === 'image' || family === 'audio' || family === 'video') ? family : kind;
};

/** Undefined for a part that is no media. */
export const mediaOf = (part: Fields): Media | undefined => {
  const kind = kinds.get(part['type']);
  if (kind === undefined) return undefined;
  const fields = flattened(part);
  const url = textOf(fields, 'url', 'file_url', 'fileUri', 'file_uri');
  const bytes = textOf(fields, 'base64', 'data', 'file_data');
  const given = [url, bytes].find((text) => text?.startsWith('data:'));
  const type = given === undefined ? typeOf(fields, kind) : (/^data:([^;,]*)/.exec(given)?.[1] ?? '');
  const isBase64 = given === undefined && bytes !== undefined && base64.test(bytes);
  return {
    kind: kindOfType(kind, type),
    data: given ?? (isBase64 ? `data:${type};base64,${bytes}` : undefined),
    link: url !== undefined && /^https?:\/\//i.test(url) ? url : undefined,
    name: textOf(
      { ...(isObject(fields['metadata']) ? fields['metadata'] : {}), ...fields },
      'filename',
      'name',
      'title',
      'file_id',
      'fileId',
    ),
  };
};

/** True where the bytes can be shown as an image. */
export const isImage = ({ kind, data }: Media): boolean =>
  kind === 'image' && data !== undefined && data.startsWith('data:image/');
