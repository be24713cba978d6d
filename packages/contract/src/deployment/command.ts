import * as z from 'zod';
import { Json, nullish } from '../json.ts';

const Node = z.string().min(1).max(256);
/** The classes of LangGraph add their name when they are written as JSON. */
const lg_name = z.string().optional().describe('Ignored');
const Send = z.strictObject({ node: Node, input: Json, lg_name });
const Goto = z.union([Node, Send, z.array(z.union([Node, Send])).max(1_000)]);

export const Command = z
  .strictObject({
    update: nullish(Json).describe('Written to the state: an object, or a list of [key, value] pairs'),
    resume: Json.optional().describe('The value that an interrupt returns when the graph continues'),
    goto: nullish(Goto).describe('The nodes that run next'),
    lg_name,
  })
  .meta({ id: 'Command' });
export type Command = z.output<typeof Command>;
