/** Selects the parser for kubeconfigs. Parsing must be cheap, because every command starts by reading a kubeconfig. */
import { ConfigError, type ConfigParser, textIfThere } from './kubeconfig-files.ts'
import { parsePlainYaml } from './plain-yaml.ts'

/** Returns a parser for the given files. Most files need only the parser for simple YAML, which loads fast. */
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
