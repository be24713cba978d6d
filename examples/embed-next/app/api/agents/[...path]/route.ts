import { agents } from '../../../../agents.ts';

export const runtime = 'nodejs';
export const dynamic = 'force-dynamic';

const serve = async (request: Request): Promise<Response> => (await agents()).fetch(request);

export { serve as DELETE, serve as GET, serve as PATCH, serve as POST, serve as PUT };
