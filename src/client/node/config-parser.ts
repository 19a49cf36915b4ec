/** Which parser client configs need: reading one is the first thing that every command does, so it is to cost little. */
import { ConfigError, type ConfigParser, textIfThere } from './kubeconfig-files.ts'
import { parsePlainYaml } from './plain-yaml.ts'

/** What reads these files, as cheap as they allow: most need no more than the plainest YAML. */
export async function parserFor(files: readonly string[]): Promise<ConfigParser> {
  const texts = files.map(textIfThere).filter((text) => text !== undefined)
  if (texts.every((text) => parsePlainYaml(text) !== undefined)) return parsePlain
  return (await import('./config-yaml.ts')).parseConfigYaml
}

const parsePlain: ConfigParser = (file, text) => {
  const content = parsePlainYaml(text)
  if (content === undefined) throw new ConfigError(`${file} was changed while it was read: try again`)
  return content
}
