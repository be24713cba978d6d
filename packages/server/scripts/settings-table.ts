import { settingDefinitions, settingKeys } from '../src/config/settings/definitions.ts';
import type { SettingDefinition } from '../src/config/settings/setting-type.ts';

const tableMarks = {
  start: '<!-- settings: npm run generate -->',
  end: '<!-- /settings -->',
} as const;

/** Replaces the table of settings between the two marks of a document. */
export function withSettingsTable(document: string): string {
  const start = document.indexOf(tableMarks.start);
  const end = document.indexOf(tableMarks.end);
  if (start < 0 || end < start)
    throw new Error(`the marks ${tableMarks.start} and ${tableMarks.end} are missing`);
  return `${document.slice(0, start + tableMarks.start.length)}\n${settingsTable()}\n${document.slice(end)}`;
}

function settingsTable(): string {
  const rows = settingKeys.map((key) => {
    const definition: SettingDefinition<unknown> = settingDefinitions[key];
    const { variable, aliases = [], type, doc } = definition;
    const standard = definition.defaultDoc ?? `\`${String(definition.default)}\``;
    const names = [variable, ...aliases.map(({ name }) => name)].map((name) => `\`${name}\``).join(', ');
    const inFile = type.secret ? '' : `\`${key}\``;
    return [names, inFile, type.name.replaceAll('|', '\\|'), standard, doc];
  });
  const header = ['variable', '`settings` key', 'type', 'default', 'meaning'];
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
