// Namespaces in addresses and fields: labels contain no dots, so they are joined by dots.

export const formatNamespace = (namespace: readonly string[]): string => namespace.join('.');

/** The labels of a text; an empty text is the root. */
export const readNamespace = (text: string | undefined): string[] =>
  text === undefined || text.trim() === '' ? [] : text.trim().split('.');

/** Why the server would not accept the text as a namespace. */
export const namespaceProblem = (text: string): string | undefined =>
  readNamespace(text).includes('') ? 'A label is empty: labels are separated by single dots.' : undefined;
