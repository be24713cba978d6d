import { type ConfigSources, loadSettings } from '../../config/config.ts';
import { shownSettings } from '../../config/settings/settings.ts';

/** Prints the value and the origin of every setting, and the receivers of telemetry; secrets are redacted. */
export function showConfig(sources: ConfigSources, json: boolean): void {
  const { settings, project } = loadSettings(sources, { checksAccess: true });
  const rows = shownSettings(settings).map(({ key, variable, value, origin }) => ({
    key,
    variable,
    value,
    origin,
  }));
  const graphs = [...(project?.graphs ?? [])].map(([id, graph]) => ({ id, ...graph }));
  const { spans, metrics, logs, warnings } = settings.telemetry;
  const telemetry = { spans: spans?.url, metrics: metrics?.url, logs: logs?.url };
  if (json) {
    const file = project?.file ?? null;
    const config = { file, compat: project?.compat ?? false, graphs, telemetry, settings: rows };
    console.log(JSON.stringify(config, null, 2));
    return;
  }
  console.log(
    `config file   ${project?.file ?? 'none'}${project?.compat === true ? ' (stock spellings on)' : ''}`,
  );
  for (const { id, file, export: name } of graphs) console.log(`graph         ${id} = ${file}:${name}`);
  for (const [name, url] of Object.entries(telemetry))
    if (url !== undefined) console.log(`${name.padEnd(13)} sent to ${url}`);
  console.log('');
  const width = (column: 'variable' | 'value'): number =>
    Math.max(...rows.map((row) => row[column].length)) + 2;
  for (const { variable, value, origin } of rows) {
    console.log(`${variable.padEnd(width('variable'))}${value.padEnd(width('value'))}${origin}`);
  }
  for (const warning of [...(project?.warnings ?? []), ...warnings]) console.error(`warning: ${warning}`);
}
