/**
 * Reads the AdmissionConfiguration in `--admission-control-config-file`. The file configures each admission plugin,
 * either inline or through the path of another file. Such a path is relative to the AdmissionConfiguration file.
 */
import { dirname, resolve } from 'node:path'
import { isObject, type Json, type JsonObject, own } from '../../api/json/json.ts'
import { apiVersionOf, type Vendor } from '../../api/model/vendor.ts'
import { UsageError } from '../../base/flags/flags.ts'
import { messageOf } from '../../base/text/errors.ts'
import { readFlagFile } from '../flags/read-flag-file.ts'

export interface ControlConfiguration {
  readonly value: Json
  /** Path of the file that contains the plugin's configuration, for error messages. */
  readonly source: string
}

const maxFileBytes = 16 * 1024 * 1024
const flagName = 'admission-control-config-file'

/** Returns the configurations by the name of the admission plugin. Returns an empty map if the flag is not set. */
export async function readAdmissionConfiguration(
  file: string,
  vendor: Vendor,
): Promise<Map<string, ControlConfiguration>> {
  if (file === '') return new Map()
  const content = await readYaml(file)
  const expectedApiVersion = apiVersionOf(vendor, 'apiserver.config', 'v1')
  if (
    !isObject(content) ||
    own(content, 'kind') !== 'AdmissionConfiguration' ||
    own(content, 'apiVersion') !== expectedApiVersion
  )
    throw fault(file, `the file must be of kind AdmissionConfiguration in ${expectedApiVersion}`)
  refuseUnknown(file, content, ['apiVersion', 'kind', 'plugins'])
  const plugins = own(content, 'plugins') ?? []
  if (!Array.isArray(plugins)) throw fault(file, 'plugins must be a list')
  const entries = await Promise.all(plugins.map((plugin, i) => readPlugin(file, plugin, i)))
  const twice = entries.find(([name], i) => entries.findIndex(([other]) => other === name) !== i)
  if (twice !== undefined) throw fault(file, `${twice[0]} is configured more than once`)
  return new Map(entries)
}

async function readPlugin(file: string, plugin: Json, index: number): Promise<[string, ControlConfiguration]> {
  const place = `plugins[${index}]`
  if (!isObject(plugin)) throw fault(file, `${place} must be an object`)
  refuseUnknown(file, plugin, ['name', 'path', 'configuration'], place)
  const [name, path, configuration] = ['name', 'path', 'configuration'].map((key) => own(plugin, key))
  if (typeof name !== 'string' || name === '')
    throw fault(file, `${place}.name is required: specify an admission plugin`)
  if (typeof path === 'string' && path !== '' && configuration === undefined) {
    const source = resolve(dirname(file), path)
    return [name, { value: await readYaml(source), source }]
  }
  if (path !== undefined && path !== '') throw fault(file, `${place}: path and configuration are mutually exclusive`)
  return [name, { value: configuration ?? null, source: file }]
}

function refuseUnknown(file: string, object: JsonObject, knownFields: readonly string[], place = ''): void {
  const unknown = Object.keys(object).find((key) => !knownFields.includes(key))
  if (unknown !== undefined)
    throw fault(file, `unknown field ${JSON.stringify(place === '' ? unknown : `${place}.${unknown}`)}`)
}

/** Parses a YAML file. The parser is loaded only if there is a file to parse. */
async function readYaml(file: string): Promise<Json> {
  const text = readFlagFile(flagName, file)
  const { parseYaml } = await import('../../api/codec/yaml.ts')
  try {
    return parseYaml(Buffer.from(text), maxFileBytes).value
  } catch (error) {
    throw fault(file, messageOf(error))
  }
}

function fault(file: string, why: string): UsageError {
  return new UsageError(`--${flagName}: ${file}: ${why}`)
}
