// The files of the guide. The build of packages/docs-site writes them: pages, and assets whose names contain a hash of their content.
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { accepts, assetEnding, ifThere, typeOf } from '../files/built-file.ts';

export interface GuideFile {
  body: Buffer<ArrayBuffer>;
  type: string;
  encoding: 'gzip' | undefined;
  etag: string;
  isAsset: boolean;
}

interface Known {
  /** Of the file when it was read. A build replaces the pages. */
  changedMs: number;
  plain: Buffer<ArrayBuffer>;
  zipped: Buffer<ArrayBuffer>;
  etag: string;
}

/** `page.html` */
const pageName = /^[\da-z-]+\.html$/;

export class GuideFiles {
  readonly #folder: URL;
  /** By path. Compressed at the first request, because the package would be larger with both forms; all files have less than 2 MB. */
  readonly #known = new Map<string, Known>();

  /** `folder` ends with a slash. */
  constructor(folder: URL) {
    this.#folder = folder;
  }

  /** `path`: below the folder, `index.html` for example. */
  async find(path: string, acceptEncoding: string): Promise<GuideFile | undefined> {
    const asset = /^assets\/([^/]+)$/.exec(path)?.[1];
    const ending = asset === undefined ? pageName.exec(path) && 'html' : assetEnding(asset);
    const known = ending ? await this.#read(path) : undefined;
    if (!ending || !known) return undefined;
    const isZipped = accepts(acceptEncoding, 'gzip');
    return {
      body: isZipped ? known.zipped : known.plain,
      encoding: isZipped ? 'gzip' : undefined,
      type: typeOf(ending),
      etag: known.etag,
      isAsset: asset !== undefined,
    };
  }

  async #read(path: string): Promise<Known | undefined> {
    const url = new URL(path, this.#folder);
    const changedMs = (await ifThere(stat(url)))?.mtimeMs;
    if (changedMs === undefined) return undefined;
    const earlier = this.#known.get(path);
    if (earlier?.changedMs === changedMs) return earlier;
    const plain = await ifThere(readFile(url));
    if (plain === undefined) return undefined;
    const hash = createHash('sha256').update(plain).digest('base64url').slice(0, 22);
    // Weak: the same for both forms.
    const known = { changedMs, plain, zipped: await promisify(gzip)(plain), etag: `W/"${hash}"` };
    this.#known.set(path, known);
    return known;
  }
}
