// Namespaces in addresses and fields: labels contain no dots, so they are joined by dots.

export const formatNamespace = (namespace: readonly string[]): string => namespace.join('.');

/** The labels of a text; an empty text is the root. */
export const readNamespace = (text: string | undefined): string[] =>
  text === undefined || text.trim() === '' ? [] : text.trim().split('.');
