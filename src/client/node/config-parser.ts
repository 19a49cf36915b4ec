/** Selects the parser for kubeconfigs. Parsing must be cheap, because every command starts by reading a kubeconfig. */
import { ConfigError, type ConfigParser, textIfThere } from './kubeconfig-files.ts'
import { parsePlainYaml } from './plain-yaml.ts'

/** Returns the cheapest parser that can read the given files. Most files contain only the simplest YAML. */
export async function parserFor(files: readonly string[]): Promise<ConfigParser> {
  const texts = files.map(textIfThere).filter((text) => text !== undefined)
  if (texts.every((text) => parsePlainYaml(text) !== undefined)) return parsePlain
  return (await import('./config-yaml.ts')).parseConfigYaml
}

const parsePlain: ConfigParser = (file, text) => {
  const content = parsePlainYaml(text)
  if (content === undefined) throw new ConfigError(`${file} changed while it was being read: try again`)
  return content
}
