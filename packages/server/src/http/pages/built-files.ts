// The files that the build of packages/console writes: documents, and assets whose names contain a hash of their content.
import { readFile } from 'node:fs/promises';

interface Encoded {
  body: Buffer<ArrayBuffer>;
  /** `content-encoding`; undefined for the file itself. */
  encoding: 'br' | 'gzip' | undefined;
}

export interface Asset extends Encoded {
  type: string;
}

const endings = { br: '.br', gzip: '.gz' } as const;

const types: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

/** The ending of a file whose name contains its hash; undefined for other names. No path separators: a name cannot leave the folder. */
const assetEnding = (name: string): string | undefined =>
  /^[\w-]+(?:\.[\w-]+)*\.(css|js|json|svg)$/.exec(name)?.[1];

/** Undefined when there is no such file, or its name is too long for one. */
const ifThere = async <T>(reading: Promise<T>): Promise<T | undefined> => {
  try {
    return await reading;
  } catch (error) {
    if (['ENOENT', 'ENAMETOOLONG'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
};

/** `header`: `Accept-Encoding`. `br;q=0` refuses an encoding. */
const accepts = (header: string, encoding: string): boolean =>
  header.split(',').some((part) => {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    return name === encoding && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });

export class BuiltFiles {
  readonly #folder: URL;
  /** As sent, by name and encoding. An asset never changes, because its name contains its hash. */
  readonly #assets = new Map<string, Encoded>();

  /** `folder` ends with a slash. */
  constructor(folder: URL) {
    this.#folder = folder;
  }

  /** The text of a document; undefined when it is not built. Read each time, because a build replaces it. */
  async findDocument(name: string): Promise<string | undefined> {
    return ifThere(readFile(new URL(name, this.#folder), 'utf8'));
  }

  /** The asset in the best encoding that the client accepts. */
  async findAsset(name: string, acceptEncoding: string): Promise<Asset | undefined> {
    const ending = assetEnding(name);
    if (ending === undefined) return undefined;
    const accepted = (['br', 'gzip'] as const).filter((encoding) => accepts(acceptEncoding, encoding));
    let encoded: Encoded | undefined;
    for (const encoding of [...accepted, undefined]) encoded ??= await this.#find(name, encoding);
    return encoded && { ...encoded, type: types[ending] ?? 'application/json' };
  }

  async #find(name: string, encoding: Encoded['encoding']): Promise<Encoded | undefined> {
    const file = name + (encoding === undefined ? '' : endings[encoding]);
    const known = this.#assets.get(file);
    if (known) return known;
    const body = await ifThere(readFile(new URL(`assets/${file}`, this.#folder)));
    if (body === undefined) return undefined;
    const found = { body, encoding };
    this.#assets.set(file, found);
    return found;
  }
}
