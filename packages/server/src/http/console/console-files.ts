// The files of the console, which the build of packages/console writes: index.html, and assets whose names contain a hash of their content.
import { readFile } from 'node:fs/promises';

interface Encoded {
  body: Buffer<ArrayBuffer>;
  /** `content-encoding`; undefined for the file itself. */
  encoding: 'br' | 'gzip' | undefined;
}

export interface Asset extends Encoded {
  type: string;
}

const types: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  svg: 'image/svg+xml',
};

/** No path separators: a name cannot leave the folder. */
const assetName = /^[\w-]+(?:\.[\w-]+)*\.(css|js|json|svg)$/;

const endings = { br: '.br', gzip: '.gz' } as const;

const readIfThere = async (url: URL): Promise<Buffer<ArrayBuffer> | undefined> => {
  try {
    return await readFile(url);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

export class ConsoleFiles {
  readonly #folder: URL;
  /** As sent, by name and encoding. An asset never changes, because its name contains its hash. */
  readonly #assets = new Map<string, Encoded>();

  /** `folder` ends with a slash. */
  constructor(folder: URL) {
    this.#folder = folder;
  }

  /** The text of index.html; undefined when the console is not built. Read each time, because a build replaces it. */
  async findIndex(): Promise<string | undefined> {
    return (await readIfThere(new URL('index.html', this.#folder)))?.toString('utf8');
  }

  /** The asset in the best encoding that the client accepts. */
  async findAsset(name: string, acceptEncoding: string): Promise<Asset | undefined> {
    const ending = assetName.exec(name)?.[1];
    if (ending === undefined) return undefined;
    const accepted = (['br', 'gzip'] as const).filter((encoding) => accepts(acceptEncoding, encoding));
    let encoded: Encoded | undefined;
    for (const encoding of [...accepted, undefined]) encoded ??= await this.#find(name, encoding);
    return encoded && { ...encoded, type: types[ending] ?? 'application/octet-stream' };
  }

  async #find(name: string, encoding: Encoded['encoding']): Promise<Encoded | undefined> {
    const file = name + (encoding === undefined ? '' : endings[encoding]);
    const known = this.#assets.get(file);
    if (known) return known;
    const body = await readIfThere(new URL(`assets/${file}`, this.#folder));
    if (body === undefined) return undefined;
    const found = { body, encoding };
    this.#assets.set(file, found);
    return found;
  }
}

/** `br;q=0` refuses an encoding. */
const accepts = (header: string, encoding: string): boolean =>
  header.split(',').some((part) => {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    return name === encoding && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
