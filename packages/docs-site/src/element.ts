import type { Element, ElementContent, Properties } from 'hast';

/** An element of HTML. Strings are texts; they are escaped when the tree is written. */
export const element = (
  tagName: string,
  properties: Properties = {},
  ...children: (ElementContent | string)[]
): Element => ({
  type: 'element',
  tagName,
  properties,
  children: children.map((child) => (typeof child === 'string' ? { type: 'text', value: child } : child)),
});
