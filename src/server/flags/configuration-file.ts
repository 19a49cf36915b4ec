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
 * A command-line flag overrides the field. Errors name the line and the column.
 */
import { locateYamlValue, type YamlPath } from '../../api/codec/yaml-location.ts'
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
/** Flags that have no field in the file because they select the file. */
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

/** Reads and checks a file. Throws UsageError with the line and column of the first invalid field. */
export async function readConfigurationFile(file: string, groups: FlagGroups): Promise<ConfiguredFlag[]> {
  const text = readFlagFile('config', file)
  const fail = (path: YamlPath, message: string) => {
    const position = locateYamlValue(text, path)
    return new UsageError(
      `${position === undefined ? file : `${file}:${position.line}:${position.column}`}: ${message}`,
    )
  }
  const { value, duplicates } = await parse(file, text)
  const [duplicate] = duplicates
  if (duplicate !== undefined) throw fail(duplicate.split('.'), `the field ${duplicate} occurs twice`)
  return new ConfigurationReader(groups, fail).read(value)
}

async function parse(file: string, text: string) {
  const { parseYaml } = await import('../../api/codec/yaml.ts')
  try {
    return parseYaml(Buffer.from(text), maxBytes)
  } catch (error) {
    throw new UsageError(`${file}: ${messageOf(error).replace(/^the body (?:is not valid YAML: )?/, '')}`)
  }
}

type Fail = (path: YamlPath, message: string) => UsageError

class ConfigurationReader {
  readonly #groups: ReadonlyMap<string, Flags>
  readonly #fail: Fail

  constructor(groups: FlagGroups, fail: Fail) {
    this.#groups = new Map(Object.entries(groups).map(([title, flags]) => [groupField(title), flags]))
    this.#fail = fail
  }

  read(document: Json): ConfiguredFlag[] {
    if (!isObject(document)) throw this.#fail([], `the file must contain an object of kind ${configurationKind}`)
    const { kind, apiVersion, ...groups } = document
    if (kind !== configurationKind) throw this.#fail(['kind'], `kind: must be ${configurationKind}`)
    if (apiVersion !== configurationVersion)
      throw this.#fail(['apiVersion'], `apiVersion: must be ${configurationVersion}`)
    return Object.entries(groups).flatMap(([name, fields]) => this.#readGroup(name, fields))
  }

  #readGroup(group: string, fields: Json | undefined): ConfiguredFlag[] {
    const flags = this.#groups.get(group)
    if (flags === undefined) throw this.#unknown([group], [...this.#groups.keys()])
    if (!isObject(fields)) throw this.#fail([group], `${group}: must be an object with a field per flag`)
    const byField = new Map(
      Object.values(flags)
        .filter(hasField)
        .map((flag) => [flagField(flag.name), flag]),
    )
    return Object.entries(fields).flatMap(([field, value]) => {
      const flag = byField.get(field)
      if (flag === undefined) throw this.#unknown([group, field], [...byField.keys()])
      return this.#readField([group, field], value, flag)
    })
  }

  #readField(path: readonly string[], value: Json | undefined, flag: Flag<unknown>): ConfiguredFlag[] {
    const where = path.join('.')
    try {
      const texts = flagTexts(value, flag)
      if (flag.readAll === undefined) for (const text of texts) flag.read(text)
      else flag.readAll(texts)
      return texts.map((text) => ({ name: flag.name, value: text }))
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      throw this.#fail(path, `${where}: ${error.message}`)
    }
  }

  #unknown(path: readonly string[], candidates: readonly string[]): UsageError {
    const hint = closestMatch(path.at(-1)!, candidates)
    return this.#fail(path, `unknown field ${path.join('.')}${hint === undefined ? '' : `; did you mean ${hint}?`}`)
  }
}

/**
 * Converts the value of a field to the flag's values as on a command line. A list becomes several values of a
 * repeatable flag, or one comma-separated value of any other flag. An object becomes a list of `key=value` pairs.
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
  throw new UsageError('must be a string, a number, a boolean, or a list of such values')
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
