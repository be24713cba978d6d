// The token is the user. Items of a user have the user as owner; `shared` reads what a filter of the owner allows.
import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';

export const auth = new Auth()
  .authenticate((request) => {
    const identity = request.headers.get('authorization')?.replace('Bearer ', '');
    if (identity === undefined) throw new HTTPException(401);
    return { identity, permissions: [] };
  })
  .on('store:put', ({ value, user }) => {
    value.value['owner'] = user.identity;
    return { owner: user.identity };
  })
  .on('store', ({ user }) => ({ owner: user.identity }));
