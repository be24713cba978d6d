// The files of the console, which the build of packages/console writes: index.html, and assets whose names contain a hash of their content.
import { readFile } from 'node:fs/promises';
import { accepts, assetEnding, ifThere, typeOf } from '../files/built-file.ts';

interface Encoded {
  body: Buffer<ArrayBuffer>;
  /** `content-encoding`; undefined for the file itself. */
  encoding: 'br' | 'gzip' | undefined;
}

export interface Asset extends Encoded {
  type: string;
}

const endings = { br: '.br', gzip: '.gz' } as const;

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
    return ifThere(readFile(new URL('index.html', this.#folder), 'utf8'));
  }

  /** The asset in the best encoding that the client accepts. */
  async findAsset(name: string, acceptEncoding: string): Promise<Asset | undefined> {
    const ending = assetEnding(name);
    if (ending === undefined) return undefined;
    const accepted = (['br', 'gzip'] as const).filter((encoding) => accepts(acceptEncoding, encoding));
    let encoded: Encoded | undefined;
    for (const encoding of [...accepted, undefined]) encoded ??= await this.#find(name, encoding);
    return encoded && { ...encoded, type: typeOf(ending) };
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
