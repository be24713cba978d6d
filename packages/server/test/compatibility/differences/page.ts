import { listed } from './all.ts';
import type { ListedDifference } from './difference.ts';
import { python } from './python.ts';

const intro = `# Compatibility

With a \`langgraph.json\`, or another [file of the stock server](configuration.md#svcjson), this server behaves as the open dev server of LangGraph.js, except for
what this page lists, with reasons in [the list](../packages/server/test/compatibility/differences) of the test that sends the same requests to both.

Without such a file, threads in the results of \`POST /threads/search\` have no \`values\` and \`interrupts\`, unless \`select\` names them (in the Python client,
\`thread["values"]\` raises \`KeyError\`), and the response that creates a thread has no \`config\`. To have them, set \`"compat": "langgraph"\`. With it, the results
of every method of the Python clients have the keys that the types of its SDK require, except \`checkpoint_map\` of checkpoints.
`;

const aboutPython = `Beside the in-memory server for Python, what concerns both languages above holds too. Further differences:
`;

const list = (differences: readonly ListedDifference[]): string =>
  [...differences.map(({ behaviour }) => `- ${behaviour}`), ''].join('\n');

/** docs/compatibility.md */
export const compatibilityPage = (): string => {
  const sections = Object.entries(listed).map(
    ([title, differences]) => `## ${title}\n\n${list(differences)}`,
  );
  return [intro, ...sections, `## Python graphs\n\n${aboutPython}\n${list(python)}`].join('\n');
};
