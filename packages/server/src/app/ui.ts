// Wiring of generative user interfaces.
import { LoadedModules } from '../config/project/loaded-modules.ts';
import { UiBundles } from '../deployment/ui/ui-bundles.ts';
import type { ServiceParts } from './service-parts.ts';

/** A process that does not serve `/ui` builds nothing. */
export const uiBundles = ({ project, settings, logger, onModules }: ServiceParts): UiBundles => {
  const isServed = settings.role !== 'worker' && !project.disabled.tags.has('UI');
  const modules = onModules && new LoadedModules(onModules);
  return new UiBundles({
    dir: project.dir,
    config: isServed ? project.ui : { ...project.ui, files: new Map() },
    logger,
    onInput: modules?.add,
  });
};
