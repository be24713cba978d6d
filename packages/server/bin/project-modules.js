// How an executor loads the modules of the project: as `tsx` runs a program. Files whose package.json has no "type", or "commonjs",
// are CommonJS, also those that are written with import and export.
import Module, { register as registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { enginePackage } from './engine-packages.js';

/**
 * Returns what the operator should know. `tsconfig` is the path of the project's, or undefined: never the one that is found from the working directory. Call it after
 * modules that need no transformation are loaded, since every later one passes through the hooks.
 */
export async function registerProjectModules({ tsconfig, onImport }) {
  const none = fileURLToPath(new URL('./no-tsconfig.json', import.meta.url));
  requireEngineOnce();
  const failure = await registerTypeScript(tsconfig ?? none, onImport);
  if (failure !== undefined) await registerTypeScript(none, onImport);
  registerHooks('./module-hooks.js', import.meta.url);
  return failure === undefined
    ? []
    : [`${tsconfig} cannot be read, so modules are loaded without it: ${failure.message}`];
}

/** Returns the error of a tsconfig.json that cannot be read. Nothing is registered then. */
async function registerTypeScript(path, onImport) {
  const [{ register: registerCommonJs }, { register: registerModules }] = await Promise.all([
    import('tsx/cjs/api'),
    import('tsx/esm/api'),
  ]);
  // The CommonJS half has no option for it.
  const { TSX_TSCONFIG_PATH: given } = process.env;
  process.env.TSX_TSCONFIG_PATH = path;
  try {
    registerCommonJs();
  } catch (error) {
    return error;
  } finally {
    if (given === undefined) delete process.env.TSX_TSCONFIG_PATH;
    else process.env.TSX_TSCONFIG_PATH = given;
  }
  registerModules({ onImport, tsconfig: path });
}

/** `require` of an engine package returns the ES modules that the server has imported, not a second copy in CommonJS. */
function requireEngineOnce() {
  // Before tsx replaces it: it requires ES modules as they are.
  const loadFile = Module._extensions['.js'];
  const load = Module._load;
  const engine = new Map();
  const requireEngine = (request, parent) => {
    const file = fileURLToPath(import.meta.resolve(request));
    const module = new Module(file, parent);
    module.filename = file;
    loadFile(module, file);
    module.loaded = true;
    return module.exports;
  };
  Module._load = function (request, parent, isMain) {
    if (!enginePackage.test(request)) return Reflect.apply(load, this, [request, parent, isMain]);
    if (!engine.has(request)) engine.set(request, requireEngine(request, parent));
    return engine.get(request);
  };
}
