/** Ids as the git hosts make them of headings, so that one link works there and in the guide. A page needs an instance of its own. */
export class HeadingIds {
  readonly #used = new Map<string, number>();

  of(heading: string): string {
    const id = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-');
    const earlier = this.#used.get(id) ?? 0;
    this.#used.set(id, earlier + 1);
    return earlier === 0 ? id : `${id}-${earlier}`;
  }
}
