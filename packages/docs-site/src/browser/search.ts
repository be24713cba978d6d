// The search: a dialog with a field and links. The texts are loaded as a script, because a page that is opened as a file may not fetch.
import { findSections, type Found, indexSections, type SearchSection } from '../search-text.ts';

type Find = (query: string) => Found[];

interface Parts {
  dialog: HTMLDialogElement;
  input: HTMLInputElement;
  results: HTMLElement;
  status: HTMLElement;
}

export const addSearch = (tools: HTMLElement, source: string): void => {
  const parts = createDialog();
  const { dialog, input } = parts;
  let loading: Promise<Find> | undefined;
  const search = async (): Promise<void> => {
    try {
      const find = await (loading ??= load(source));
      show(parts, input.value, find(input.value));
    } catch {
      // The next key tries again.
      loading = undefined;
      parts.status.textContent = 'The texts of the guide could not be loaded. Type again to retry.';
    }
  };
  const open = (): void => {
    if (dialog.open) return;
    dialog.showModal();
    input.select();
    void search();
  };
  input.addEventListener('input', () => void search());
  dialog.addEventListener('keydown', (event) => move(parts, event));
  dialog.addEventListener('click', ({ target }) => {
    // A click beside the dialog, or on a link, which may lead to this page.
    if (target === dialog || (target instanceof Element && target.closest('a'))) dialog.close();
  });
  document.addEventListener('keydown', (event) => {
    const isTyped = event.target instanceof HTMLInputElement;
    const isShortcut =
      (event.key === 'k' && (event.ctrlKey || event.metaKey)) || (event.key === '/' && !isTyped);
    if (!isShortcut) return;
    event.preventDefault();
    open();
  });
  tools.append(searchButton(open));
  document.body.append(dialog);
};

const create = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]> = {},
): HTMLElementTagNameMap[Name] => Object.assign(document.createElement(name), properties);

const searchButton = (open: () => void): HTMLElement => {
  const button = create('button', { type: 'button', className: 'search-button' });
  button.append('Search ', create('kbd', { textContent: '/' }));
  button.addEventListener('click', open);
  return button;
};

const createDialog = (): Parts => {
  const dialog = create('dialog', { className: 'search', ariaLabel: 'Search' });
  const input = create('input', { type: 'search', placeholder: 'Words of the guide', autocomplete: 'off' });
  input.ariaLabel = 'Search the guide';
  const status = create('p', { className: 'status', role: 'status' });
  const results = create('ul');
  dialog.append(input, status, results);
  return { dialog, input, status, results };
};

const load = (source: string): Promise<Find> =>
  new Promise((resolve, reject) => {
    const script = create('script', { src: source });
    script.addEventListener('error', () => reject(new Error(`${source} was not loaded`)));
    script.addEventListener('load', () => {
      const sections = (globalThis as { guideSections?: SearchSection[] }).guideSections ?? [];
      const index = indexSections(sections);
      resolve((query) => findSections(index, sections, query));
    });
    document.head.append(script);
  });

const show = ({ results, status }: Parts, query: string, found: Found[]): void => {
  results.replaceChildren(...found.map(resultItem));
  status.textContent = found.length === 0 && query.trim() !== '' ? 'Nothing found.' : '';
};

const resultItem = ({ section, excerpt, words }: Found): HTMLElement => {
  const link = create('a', { href: section.href });
  const name = create('strong');
  name.append(
    ...marked(section.heading === '' ? section.page : `${section.page} › ${section.heading}`, words),
  );
  const text = create('span');
  text.append(...marked(excerpt, words));
  link.append(name, text);
  const item = create('li');
  item.append(link);
  return item;
};

/** The text, with the words in <mark>. */
const marked = (text: string, words: readonly string[]): (Node | string)[] => {
  if (words.length === 0) return [text];
  const escaped = words
    .toSorted((a, b) => b.length - a.length)
    .map((word) => word.replaceAll(/[^\p{L}\p{N}]/gu, String.raw`\$&`));
  return text
    .split(new RegExp(`(${escaped.join('|')})`, 'gi'))
    .map((part, index) => (index % 2 === 1 ? create('mark', { textContent: part }) : part));
};

/** The arrow keys move between the field and the links; Enter in the field opens the first link; Escape closes the dialog at once. */
const move = ({ dialog, input, results }: Parts, event: KeyboardEvent): void => {
  const stops: HTMLElement[] = [input, ...results.querySelectorAll('a')];
  const at = stops.indexOf(document.activeElement as HTMLElement);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step !== undefined) {
    event.preventDefault();
    stops[Math.min(Math.max(at + step, 0), stops.length - 1)]?.focus();
  } else if (event.key === 'Enter' && at === 0) {
    stops[1]?.click();
  } else if (event.key === 'Escape') {
    // The field would be emptied first.
    event.preventDefault();
    dialog.close();
  }
};
