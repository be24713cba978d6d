// Generative user interfaces: components of the project that a web page loads and renders.
import * as z from 'zod';
import { routesOf } from '../route.ts';

const route = routesOf('UI');
const agent = z.string().min(1).max(128).describe('A name in `ui` of svc.json');

export const uiRoutes = {
  getUi: route('post', '/ui/:agent', {
    summary: 'HTML that loads a component of an agent, for LoadExternalComponent of the LangGraph SDK',
    access: 'caller',
    kind: 'html',
    params: z.object({ agent }),
    body: z.object({
      name: z
        .string()
        .regex(/^[\w$.:-]{1,128}$/, {
          error: 'must be 1 to 128 of the characters A-Z a-z 0-9 _ $ . : -',
        })
        .describe('Key of the component in the default export of the file'),
    }),
    response: z.string(),
    errors: ['not_found', 'unavailable'],
  }),
  getUiFile: route('get', '/ui/:agent/:file', {
    summary: 'A file that the HTML of a component names: a script or a style sheet',
    description:
      'Public, because a script element sends no headers. With `http.enable_ui_auth` in svc.json, the request needs authentication.',
    access: 'public',
    kind: 'file',
    params: z.object({
      agent,
      file: z.string().min(1).max(128).describe('Name of a built file, from the HTML'),
    }),
    query: z.object({ v: z.string().max(128).optional().describe('Version of the file, from the HTML') }),
    response: z.string(),
    errors: ['not_found', 'unavailable'],
  }),
};
