// Characters that change the direction of text, or have no width, can make a name look like another one.
const hidden = /(?![\n\r\t])\p{Cc}|[\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/gu;

/** The text with hidden characters written as their code points. */
export const visibleText = (text: string): string =>
  text.replaceAll(
    hidden,
    (character) => `‹U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}›`,
  );
