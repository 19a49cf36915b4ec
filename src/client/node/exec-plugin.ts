/** Reads `user.exec` in a kubeconfig: the credential plugin and how to run it. */
import { delimiter, isAbsolute, join } from 'node:path'
import { isObject } from '../../api/json/json.ts'
import { type ProfileName, vendorOf } from '../../api/model/vendor.ts'
import {
  besideConfig,
  type Entry,
  fault,
  optional,
  optionalFlag,
  optionalText,
  requiredText,
  textList,
} from './config-entry.ts'

export interface ExecPlugin {
  /** The command of the plugin: a path, or a name that is looked up in PATH. */
  readonly command: string
  readonly args: readonly string[]
  readonly env: { readonly [name: string]: string }
  /** API version of the plugin's input and output, such as `client.authentication.orch.io/v1`. */
  readonly apiVersion: string
  /** Environment variable that passes information to the plugin. */
  readonly infoVariable: string
  readonly installHint: string | undefined
  readonly provideClusterInfo: boolean
  readonly interactiveMode: InteractiveMode
}

type InteractiveMode = (typeof interactiveModes)[number]

const interactiveModes = ['Never', 'IfAvailable', 'Always'] as const
const versions = ['v1', 'v1beta1']
const profileNames: readonly ProfileName[] = ['orch', 'kubernetes']

/** Reads the plugin entry. Throws an error if the entry is invalid, so that no unusable plugin is run. */
export function execPluginOf(exec: Entry): ExecPlugin {
  const { apiVersion, version, infoVariable } = interfaceOf(exec)
  return {
    command: commandOf(exec),
    args: textList(exec, 'args'),
    env: envOf(exec),
    apiVersion,
    infoVariable,
    installHint: optionalText(exec, 'installHint'),
    provideClusterInfo: optionalFlag(exec, 'provideClusterInfo'),
    interactiveMode: modeOf(exec, version),
  }
}

/** Returns the API group of credential plugins for each profile. */
export function execGroups(): { group: string; infoVariable: string }[] {
  return profileNames.map(vendorOf).map(({ groupDomain, execInfoVariable }) => ({
    group: `client.authentication.${groupDomain}`,
    infoVariable: execInfoVariable,
  }))
}

function interfaceOf(exec: Entry): { apiVersion: string; version: string; infoVariable: string } {
  const apiVersion = requiredText(exec, 'apiVersion')
  const supportedVersions = execGroups().flatMap(({ group, infoVariable }) =>
    versions.map((version) => ({ apiVersion: `${group}/${version}`, version, infoVariable })),
  )
  const matchingVersion = supportedVersions.find((candidate) => candidate.apiVersion === apiVersion)
  if (matchingVersion === undefined)
    throw fault(exec, 'apiVersion', `is none of ${supportedVersions.map((each) => each.apiVersion).join(', ')}`)
  return matchingVersion
}

/**
 * Returns the command to run. A relative path is resolved against the directory of the kubeconfig. A bare name is
 * looked up in PATH.
 */
function commandOf(exec: Entry): string {
  const command = requiredText(exec, 'command')
  return command.includes('/') ? besideConfig(exec, command) : command
}

/** Returns the paths at which a command may be found. They are checked in order and named in error messages. */
export function candidatesOf(command: string, path: string): string[] {
  if (isAbsolute(command)) return [command]
  return path
    .split(delimiter)
    .filter((directory) => directory !== '')
    .map((directory) => join(directory, command))
}

function envOf(exec: Entry): { [name: string]: string } {
  const list = optional(exec, 'env') ?? []
  if (!Array.isArray(list)) throw fault(exec, 'env', 'is not a list')
  const pairs = list.map((item, i) => {
    const entry = { ...exec, content: isObject(item) ? item : {}, title: `${exec.title}: env[${i}]` }
    return [requiredText(entry, 'name'), optionalText(entry, 'value') ?? '']
  })
  return Object.fromEntries(pairs)
}

function modeOf(exec: Entry, version: string): InteractiveMode {
  const mode = optionalText(exec, 'interactiveMode')
  if (mode === undefined && version === 'v1')
    throw fault(exec, 'interactiveMode', `must be specified: ${interactiveModes.join(', ')}`)
  const matchingMode = interactiveModes.find((candidate) => candidate === (mode ?? 'IfAvailable'))
  if (matchingMode === undefined) throw fault(exec, 'interactiveMode', `is none of ${interactiveModes.join(', ')}`)
  return matchingMode
}
