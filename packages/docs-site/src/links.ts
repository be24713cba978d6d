// Where a link of a page leads in the site.
import { posix } from 'node:path';

export type LinkTarget =
  | { readonly kind: 'address'; readonly href: string }
  /** On another server. */
  | { readonly kind: 'elsewhere'; readonly href: string }
  | { readonly kind: 'picture'; readonly path: string }
  /** A file or folder of the repository that is no page: readers of the guide may not have it. */
  | { readonly kind: 'repository'; readonly path: string };

export interface LinkedPage {
  readonly source: string;
  readonly file: string;
  readonly headings: readonly { readonly id: string }[];
}

const picture = /\.(?:svg|png)$/;

export class Links {
  readonly #pages: ReadonlyMap<string, LinkedPage>;
  readonly #exists: (path: string) => boolean;

  /** `exists`: whether the repository has a file or folder. */
  constructor(pages: readonly LinkedPage[], exists: (path: string) => boolean) {
    this.#pages = new Map(pages.map((page) => [page.source, page]));
    this.#exists = exists;
  }

  /** Undefined for a dead link. `source`: the page that has the link. */
  resolve(source: string, href: string): LinkTarget | undefined {
    if (/^https?:\/\//.test(href)) return { kind: 'elsewhere', href };
    const [path = '', anchor] = href.split('#');
    const target = path === '' ? source : posix.join(posix.dirname(source), decodeURIComponent(path));
    const page =
      this.#pages.get(target.replace(/\/$/, '')) ?? this.#pages.get(posix.join(target, 'README.md'));
    if (page) {
      if (anchor === undefined) return { kind: 'address', href: page.file };
      if (!page.headings.some(({ id }) => id === anchor)) return undefined;
      return { kind: 'address', href: `${path === '' ? '' : page.file}#${anchor}` };
    }
    if (target.startsWith('../') || !this.#exists(target)) return undefined;
    return picture.test(target) ? { kind: 'picture', path: target } : { kind: 'repository', path: target };
  }
}
