import { z } from 'zod';
import { Json, nullish } from '../json.ts';

const Node = z.string().min(1).max(256);
const Send = z.object({ node: Node, input: Json });
const Goto = z.union([Node, Send, z.array(z.union([Node, Send])).max(1_000)]);

export const Command = z
  .object({
    update: nullish(Json).describe('Written to the state: an object, or a list of [key, value]'),
    resume: Json.optional().describe('Answers what the graph waits for'),
    goto: nullish(Goto).describe('Which nodes run next'),
  })
  .meta({ id: 'Command' });
export type Command = z.output<typeof Command>;
