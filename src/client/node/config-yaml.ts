/**
 * Parses kubeconfigs with the full YAML library. The module is loaded only for files that the simple parser cannot
 * read.
 */
import { dump, loadAll, YAMLException } from 'js-yaml'
import type { Json } from '../../api/json/json.ts'
import { ConfigError, type ConfigParser } from './kubeconfig-files.ts'

/** Parses a kubeconfig in YAML or JSON. */
export const parseConfigYaml: ConfigParser = (file, text) => {
  try {
    return (loadAll(text)[0] ?? null) as Json
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    // Do not include the parser's message, which quotes the file and possibly secrets.
    throw new ConfigError(`${file} is not valid YAML: see line ${(error.mark?.line ?? 0) + 1}`)
  }
}

/** Serializes a kubeconfig. Long values stay on one line. */
export function writeConfigYaml(config: Json): string {
  return dump(config, { lineWidth: -1, noRefs: true })
}
