// Code of an auth file: a browser authenticates with a cookie, other clients with any authorization header.
export const sessionAuth = `export const auth = new Auth()
  .authenticate((request) => {
    const { headers } = request;
    const isKnown = headers.get('cookie') === 'session=alice' || headers.get('authorization') !== null;
    if (!isKnown) throw new HTTPException(401, { message: 'Who are you?' });
    return { identity: 'alice' };
  })
  .on('*', () => true);`;
