/**
 * Returns an origin as browsers send it: `https://app.example.com`, `http://localhost:3000`, `*` (every origin) or `null` (sent by
 * pages without an origin). Undefined for any other text, such as a URL with a path.
 */
export function parseOrigin(text: string): string | undefined {
  if (text === '*' || text === 'null') return text;
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@\\*,]+$/i.test(text) || !URL.canParse(text)) return undefined;
  const { origin } = new URL(text);
  // For schemes of applications (`capacitor://localhost`) the URL parser returns the origin "null".
  return origin === 'null' ? text.toLowerCase() : origin;
}
