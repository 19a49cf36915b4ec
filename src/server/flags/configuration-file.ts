/**
 * The `--config` file: a YAML document with a field for every flag of a server command, grouped as in the help text.
 *
 *     apiVersion: config.orch.io/v1
 *     kind: OrchConfiguration
 *     serving:
 *       securePort: 6444
 *     api:
 *       featureGates: { WatchList: true }
 *
 * The fields are converted to flags that precede the command-line flags, so that the same code parses and checks both.
 * A command-line flag overrides the field. Errors name the line and the column of each invalid field.
 */
import type { TextPosition, YamlPath } from '../../api/codec/yaml-location.ts'
import { isObject, type Json, type JsonObject } from '../../api/json/json.ts'
import { vendorOf } from '../../api/model/vendor.ts'
import { closestMatch, type Flag, type Flags, UsageError } from '../../base/flags/flags.ts'
import { messageOf } from '../../base/text/errors.ts'
import { readFlagFile } from './read-flag-file.ts'

/** Flags of a command, grouped by the headings of its help text. */
export type FlagGroups = { readonly [title: string]: Flags }

/** Value of `kind` in a `--config` file. */
export const configurationKind = 'OrchConfiguration'
/** Required value of `apiVersion` in a `--config` file. */
export const configurationVersion = `config.${vendorOf('orch').groupDomain}/v1`

const maxBytes = 1024 * 1024
/** Maximum number of invalid fields to report. */
const maxFaults = 20
/** Flags that have no field in the file, because they specify the file itself. */
const flagsWithoutField: ReadonlySet<string> = new Set(['config'])

/**
 * Returns the arguments with the flags from the `--config` file added, or the unchanged arguments if there is no such
 * flag.
 */
export async function withConfigurationFile(
  args: readonly string[],
  groups: () => Promise<FlagGroups>,
): Promise<readonly string[]> {
  const file = configurationFileOf(args)
  if (file === undefined) return args
  return [
    ...(await readConfigurationFile(file, await groups())).filter(({ name }) => !isGiven(args, name)).map(argumentOf),
    ...args,
  ]
}

/** A field of the configuration file, converted to a flag with its value. */
export interface ConfiguredFlag {
  readonly name: string
  readonly value: string
}

/** Reads and checks a file. Throws UsageError like `readConfiguration`. */
export async function readConfigurationFile(file: string, groups: FlagGroups): Promise<ConfiguredFlag[]> {
  return await readConfiguration(file, readFlagFile('config', file), groups)
}

/**
 * Reads and checks the text of a file. Throws a UsageError that lists the invalid fields in the order in which they
 * occur in the file, each with its line and column.
 */
export async function readConfiguration(file: string, text: string, groups: FlagGroups): Promise<ConfiguredFlag[]> {
  const { value, duplicates } = await parse(file, text)
  const reader = new ConfigurationReader(groups)
  const flags = reader.read(value)
  const repeated = duplicates.map((path) => ({ path: path.split('.'), message: `the field ${path} occurs twice` }))
  const faults = [...repeated, ...reader.faults]
  if (faults.length > 0) throw new UsageError(await errorText(file, text, faults))
  return flags
}

async function parse(file: string, text: string) {
  const { parseYaml } = await import('../../api/codec/yaml.ts')
  try {
    return parseYaml(Buffer.from(text), maxBytes)
  } catch (error) {
    const { yamlErrorPosition } = await import('../../api/codec/yaml-location.ts')
    const message = messageOf(error).replace(/^the body (?:is not valid YAML: line \d+: )?/, '')
    throw new UsageError(`${file}${positionText(yamlErrorPosition(error))}: ${message}`)
  }
}

/** An invalid field of the file. */
interface Fault {
  readonly path: YamlPath
  readonly message: string
}

async function errorText(file: string, text: string, faults: readonly Fault[]): Promise<string> {
  const { locateYamlValue } = await import('../../api/codec/yaml-location.ts')
  const lines = faults
    .slice(0, maxFaults)
    .map(({ path, message }) => ({ position: locateYamlValue(text, path), message }))
    .sort((one, other) => comparePositions(one.position, other.position))
    .map(({ position, message }) => `${file}${positionText(position)}: ${message}`)
  if (lines.length === 1) return lines[0]!
  const shown = lines.length < faults.length ? `, of which ${lines.length} are shown` : ''
  return [`${file} has ${faults.length} errors${shown}:`, ...lines].join('\n')
}

function positionText(position: TextPosition | undefined): string {
  return position === undefined ? '' : `:${position.line}:${position.column}`
}

const start: TextPosition = { line: 0, column: 0 }

function comparePositions(one = start, other = start): number {
  return one.line - other.line || one.column - other.column
}

class ConfigurationReader {
  readonly faults: Fault[] = []
  readonly #groups: ReadonlyMap<string, Flags>

  constructor(groups: FlagGroups) {
    this.#groups = new Map(Object.entries(groups).map(([title, flags]) => [groupField(title), flags]))
  }

  /** Returns the flags of the valid fields, and adds the invalid fields to `faults`. */
  read(document: Json): ConfiguredFlag[] {
    if (!isObject(document)) return this.#report([], `the file must contain an object of kind ${configurationKind}`)
    const { kind, apiVersion, ...groups } = document
    if (kind !== configurationKind) this.#report(['kind'], `kind: must be ${configurationKind}`)
    if (apiVersion !== configurationVersion) this.#report(['apiVersion'], `apiVersion: must be ${configurationVersion}`)
    return Object.entries(groups).flatMap(([name, fields]) => this.#readGroup(name, fields))
  }

  #readGroup(group: string, fields: Json | undefined): ConfiguredFlag[] {
    const flags = this.#groups.get(group)
    if (flags === undefined) return this.#reportUnknown([group], [...this.#groups.keys()])
    // A group is null if all its fields are commented out.
    if (fields === null) return []
    if (!isObject(fields)) return this.#report([group], `${group}: must be an object with a field per flag`)
    const byField = new Map(
      Object.values(flags)
        .filter(hasField)
        .map((flag) => [flagField(flag.name), flag]),
    )
    return Object.entries(fields).flatMap(([field, value]) => {
      const flag = byField.get(field)
      if (flag === undefined) return this.#reportUnknown([group, field], [...byField.keys()])
      return this.#readField([group, field], value, flag)
    })
  }

  #readField(path: readonly string[], value: Json | undefined, flag: Flag<unknown>): ConfiguredFlag[] {
    try {
      const texts = flagTexts(value, flag)
      if (flag.readAll === undefined) for (const text of texts) flag.read(text)
      else flag.readAll(texts)
      return texts.map((text) => ({ name: flag.name, value: text }))
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      return this.#report(path, `${path.join('.')}: ${error.message}`)
    }
  }

  #reportUnknown(path: readonly string[], candidates: readonly string[]): [] {
    const hint = closestMatch(path.at(-1)!, candidates)
    return this.#report(path, `unknown field ${path.join('.')}${hint === undefined ? '' : `; did you mean ${hint}?`}`)
  }

  /** Records a fault. Returns no flags. */
  #report(path: YamlPath, message: string): [] {
    this.faults.push({ path, message })
    return []
  }
}

/**
 * Converts the value of a field to the values that a user would pass to the flag on a command line. A list becomes
 * several values of a repeatable flag, or one comma-separated value of any other flag. An object becomes a list of
 * `key=value` pairs.
 */
function flagTexts(value: Json | undefined, flag: Flag<unknown>): string[] {
  if (Array.isArray(value)) {
    const texts = value.map(scalarText)
    return flag.readAll === undefined ? [texts.join(',')] : texts
  }
  if (isObject(value)) return [pairsText(value)]
  return [scalarText(value)]
}

function pairsText(value: JsonObject): string {
  return Object.entries(value)
    .map(([key, member]) => `${key}=${scalarText(member)}`)
    .join(',')
}

function scalarText(value: Json | undefined): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw new UsageError('must be a string, a number, a boolean, or a list of these')
}

/** Whether the file has a field for the flag. Flags that exist only to explain why they are rejected have no field. */
export function hasField({ name, hidden = false }: Flag<unknown>): boolean {
  return !hidden && !flagsWithoutField.has(name)
}

/** Returns the field of a flag, such as `tlsCertFile` for `tls-cert-file`. */
export function flagField(name: string): string {
  return name.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

/** Returns the field of a group, such as `serviceAccountTokens` for `Service account tokens`. */
export function groupField(title: string): string {
  const [first = '', ...rest] = title.split(' ')
  const start = first === first.toUpperCase() ? first.toLowerCase() : first[0]!.toLowerCase() + first.slice(1)
  return start + rest.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('')
}

function configurationFileOf(args: readonly string[]): string | undefined {
  const files = args.flatMap((arg, i) => {
    if (arg.startsWith('--config=')) return [arg.slice('--config='.length)]
    return arg === '--config' ? [args[i + 1] ?? ''] : []
  })
  if (files.length > 1) throw new UsageError('--config is specified twice')
  if (files[0] === '') throw new UsageError('--config requires a value: --config=FILE')
  return files[0]
}

function isGiven(args: readonly string[], name: string): boolean {
  return args.some((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`))
}

function argumentOf({ name, value }: ConfiguredFlag): string {
  return `--${name}=${value}`
}
