import { listed } from './all.ts';

const intro = `# Compatibility

With a \`langgraph.json\`, or another [file of the stock server](configuration.md#svcjson), this server behaves as the open dev server of LangGraph.js, except for
what this page lists. \`npm run test:compatibility\` sends the same requests to both and compares the responses; only ids and times may differ. \`npm run
generate\` writes this page from the list that the test checks.
`;

const cell = (text: string): string => text.replaceAll('|', '\\|');

/** docs/compatibility.md */
export const compatibilityPage = (): string => {
  const sections = Object.entries(listed).map(([title, differences]) =>
    [
      `## ${title}`,
      '',
      '| this server | why |',
      '|---|---|',
      ...differences.map(({ behaviour, reason }) => `| ${cell(behaviour)} | ${cell(reason)} |`),
      '',
    ].join('\n'),
  );
  return [intro, ...sections].join('\n');
};
