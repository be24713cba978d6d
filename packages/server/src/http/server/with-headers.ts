/** The response with these headers, which replace those of the same name. Headers of a response of fetch() cannot be changed: it is copied. */
export const withHeaders = (response: Response, added: Readonly<Record<string, string>>): Response => {
  const entries = Object.entries(added);
  if (entries.length === 0) return response;
  try {
    for (const [name, value] of entries) response.headers.set(name, value);
    return response;
  } catch {
    const headers = new Headers(response.headers);
    for (const [name, value] of entries) headers.set(name, value);
    const { status, statusText } = response;
    return new Response(response.body, { status, statusText, headers });
  }
};
