// Exports of a module of the project, as a config file names them.

/** A CommonJS module may have its exports under `default`, its own `default` included. Undefined when there is no such export. */
export const exportOf = (module: Record<string, unknown>, name: string): unknown => {
  const nested = module['default'] as Record<string, unknown> | undefined;
  return name === 'default' ? (nested?.['default'] ?? nested) : (module[name] ?? nested?.[name]);
};
