// One value of a state in pages, for clients that must not load a large state whole.
import * as z from 'zod';
import { Id, Json, QueryBoolean, queryInteger } from '../json.ts';
import { limitMax } from '../page.ts';
import { routesOf } from '../route.ts';

const route = routesOf('Threads');

const types = ['object', 'array', 'string', 'number', 'boolean', 'null'] as const;

const sizeOfText = z
  .int()
  .optional()
  .describe('Characters of the JSON text of the value; absent when only a part of it was read');

const shape = {
  type: z.enum(types),
  length: z
    .int()
    .optional()
    .describe('Members, elements, or characters (UTF-16 code units); absent for numbers, booleans and null'),
};

const Entry = z
  .object({
    key: z.string().describe('Name of the member, or index of the element as a decimal number'),
    ...shape,
    size: sizeOfText,
    value: Json.optional().describe('The whole value, if its size is at most `whole`'),
    digest: z
      .string()
      .optional()
      .describe('With `digests`, unless it is whole: entries with the same digest have the same JSON'),
    preview: z.string().optional().describe('The first 200 characters of a string that is not sent whole'),
  })
  .meta({ id: 'StateValueEntry' });

export const StateValue = z
  .object({
    checkpoint_id: Id.nullable().describe('The checkpoint that was read; null for a thread without one'),
    path: z.string(),
    ...shape,
    size: sizeOfText,
    offset: z.int().describe('Where the page begins, counted from the start'),
    entries: z.array(Entry).optional().describe('A page of the members of an object, or elements of a list'),
    text: z.string().optional().describe('A page of the characters of a string'),
    value: Json.optional().describe('A number, a boolean or null'),
    next: z.int().optional().describe('The offset of the next page; absent on the last one'),
  })
  .meta({ id: 'StateValue', description: 'A page of a value of a state' });
export type StateValue = z.output<typeof StateValue>;

const pathCharsMax = 2_048;
const pathStepsMax = 64;
const pointer = new RegExp(`^(?:/(?:[^~/]|~[01])*){0,${pathStepsMax}}$`);
/** More than any list or string can have. */
const offsetMax = 1_000_000_000;
/** Characters of a page of a string, and of a value that is sent whole. */
const charsMax = 65_536;

const integer = (min: number, max: number, fallback: number, description: string) =>
  queryInteger(min, max)
    .optional()
    .transform((value) => value ?? fallback)
    .describe(`${description}; ${fallback} by default`);

export const stateValueRoutes = {
  getThreadStateValue: route('get', '/threads/:thread_id/state/value', {
    summary: 'A page of a value of a state',
    description:
      'Reads a large state in parts: a page of the members of an object, of the elements of a list, or of the characters of a string. Small entries are in the page; a larger one has its type, length and size, and is read by its own path. A page of entries has at most 1 MiB of JSON, or one entry. Repeat `checkpoint_id` of the first response to read all pages of the same state.',
    access: { resource: 'threads', action: 'read' },
    params: z.object({ thread_id: Id }),
    query: z.object({
      path: z
        .string()
        .max(pathCharsMax)
        .regex(
          pointer,
          `must be a JSON pointer with at most ${pathStepsMax} steps, such as /messages/0: each step begins with /; write ~0 for ~ and ~1 for / within a step`,
        )
        .optional()
        .transform((value) => value ?? '')
        .describe('JSON pointer (RFC 6901) into the values; all values by default'),
      checkpoint_id: Id.optional().describe('Id of the checkpoint; the newest one by default'),
      checkpoint_ns: z
        .string()
        .max(4_096)
        .optional()
        .describe('Namespace of the checkpoint; the root by default'),
      offset: integer(
        -offsetMax,
        offsetMax,
        0,
        'The first member, element or character of the page; a negative one counts from the end',
      ),
      limit: integer(1, limitMax, 100, 'How many members or elements a page has at most'),
      chars: integer(0, charsMax, 4_096, 'How many characters of a string a page has at most'),
      whole: integer(
        0,
        charsMax,
        2_048,
        'Entries whose JSON has at most this many characters are sent whole',
      ),
      digests: QueryBoolean.optional().describe(
        'Adds digests, by which values of two checkpoints are compared without reading them',
      ),
    }),
    response: StateValue,
    errors: ['not_found', 'too_large'],
  }),
};
