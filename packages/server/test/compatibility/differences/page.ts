import { listed } from './all.ts';
import type { ListedDifference } from './difference.ts';
import { python } from './python.ts';

const intro = `# Compatibility

With a \`langgraph.json\`, or another [file of the stock server](configuration.md#svcjson), this server behaves as the open dev server of LangGraph.js, except for
what this page lists. \`npm run test:compatibility\` sends the same requests to both and compares the responses; only ids and times may differ. \`npm run
generate\` writes this page from the list that the test checks.

Without such a file, threads in the results of \`POST /threads/search\` have no \`values\` and \`interrupts\`, unless \`select\` names them, and the response that
creates a thread has no \`config\`. In the Python client, \`thread["values"]\` of a result of \`client.threads.search()\` then raises \`KeyError\`: pass
\`select\` with the fields that you read, or set \`"compat": "langgraph"\`. Every method of the Python clients is tested
with a \`langgraph.json\`: results have the keys that the types of its SDK require, except \`checkpoint_map\` of checkpoints.
`;

const cell = (text: string): string => text.replaceAll('|', '\\|');

const aboutPython = `Slow tests compare Python graphs with the in-memory server for Python in the same way. Differences above that concern both languages hold for
them too. Further differences:
`;

const table = (differences: readonly ListedDifference[]): string =>
  [
    '| this server | why |',
    '|---|---|',
    ...differences.map(({ behaviour, reason }) => `| ${cell(behaviour)} | ${cell(reason)} |`),
    '',
  ].join('\n');

/** docs/compatibility.md */
export const compatibilityPage = (): string => {
  const sections = Object.entries(listed).map(
    ([title, differences]) => `## ${title}\n\n${table(differences)}`,
  );
  return [intro, ...sections, `## Python graphs\n\n${aboutPython}\n${table(python)}`].join('\n');
};
