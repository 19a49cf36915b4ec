/** Client configs as YAML, whatever of it they use. Only what cannot be read otherwise needs this: it loads the library. */
import { dump, loadAll, YAMLException } from 'js-yaml'
import type { Json } from '../../api/json/json.ts'
import { ConfigError, type ConfigParser } from './kubeconfig-files.ts'

/** Reads a kubeconfig in YAML or JSON. */
export const parseConfigYaml: ConfigParser = (file, text) => {
  try {
    return (loadAll(text)[0] ?? null) as Json
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    // The message of the parser goes on with the text itself, which may be a secret.
    throw new ConfigError(`${file} is not YAML: see line ${(error.mark?.line ?? 0) + 1}`)
  }
}

/** The text of a client config; long values stay on one line. */
export function writeConfigYaml(config: Json): string {
  return dump(config, { lineWidth: -1, noRefs: true })
}
