/**
 * An origin as browsers send it: `https://app.example.com`, `http://localhost:3000`; or `*`, every origin; or `null`,
 * what pages without one have. Undefined for anything else, such as a URL with a path.
 */
export function parseOrigin(text: string): string | undefined {
  if (text === '*' || text === 'null') return text;
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@\\*,]+$/i.test(text) || !URL.canParse(text)) return undefined;
  const { origin } = new URL(text);
  // Of schemes that only applications have (`capacitor://localhost`) the parser says nothing.
  return origin === 'null' ? text.toLowerCase() : origin;
}
