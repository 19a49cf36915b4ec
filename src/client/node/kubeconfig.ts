/**
 * Reads kubeconfigs in Node.js: the server and its verification, the user and the namespace.
 *
 * Multiple files are merged. The first file that sets a value takes precedence. Paths are relative to the file that
 * contains them. Errors and unsupported settings are reported with the file and the field. Secrets are never quoted.
 */
import { dirname, resolve } from 'node:path'
import { isObject, type JsonObject, own } from '../../api/json/json.ts'
import { type Entry, optionalText, requiredText } from './config-entry.ts'
import { isSecure } from './dial.ts'
import type { HttpTransportOptions } from './http-transport.ts'
import { clusterOptions, toldToPlugins } from './kubeconfig-cluster.ts'
import { ConfigError, type ConfigParser, MissingConfigError, textIfThere } from './kubeconfig-files.ts'
import { fixedCredentials, type UserCredentials, userOptions } from './kubeconfig-user.ts'

/** The kubeconfigs and the context to use, with overriding settings. */
export interface ConfigChoice {
  /** Files to read, in order of precedence. */
  readonly files: readonly string[]
  readonly parse: ConfigParser
  /** Name of the context. Defaults to the current context. */
  readonly context?: string | undefined
  /** Cluster and user that override those of the context. */
  readonly clusterName?: string | undefined
  readonly userName?: string | undefined
  /** Server that overrides the server of the context. */
  readonly server?: string | undefined
  /** Whether to allow a server without TLS, such as `orchctl proxy`. No credentials are sent to such a server. */
  readonly plain?: boolean
  /** Overriding values for fields of the cluster or user entry, for example from flags. */
  readonly cluster?: JsonObject
  readonly user?: JsonObject
  /** The directory that relative paths in these fields refer to. */
  readonly directory?: string
  /** Whether standard input is a terminal, so that a credential plugin can ask the user. */
  readonly interactive?: boolean
}

/** The configuration of one kubeconfig context. */
export interface ClientConfig {
  readonly transport: HttpTransportOptions
  /** Namespace of the context. */
  readonly namespace: string | undefined
  /** All files that were read. */
  readonly files: readonly string[]
}

/** Reads the configuration. A missing file counts as empty, unless all files are missing. */
export function readClientConfig(choice: ConfigChoice): ClientConfig {
  const { context, server } = choice
  const sources = sourcesOf(choice)
  if (server === undefined || context !== undefined) refuseNone(choice, sources)
  const contextEntry = chooseContext(sources, choice)
  const clusterName =
    choice.clusterName ?? (contextEntry === noEntry ? undefined : requiredText(contextEntry, 'cluster'))
  const cluster = clusterName === undefined ? noEntry : findEntry(sources, 'cluster', clusterName)
  const name = choice.userName ?? optionalText(contextEntry, 'user')
  const user = name === undefined ? { ...contextEntry, content: {} } : findEntry(sources, 'user', name)
  return {
    transport: transportOf({
      ...choice,
      cluster: overridden(cluster, choice, 'cluster'),
      user: overridden(user, choice, 'user'),
    }),
    namespace: optionalText(contextEntry, 'namespace'),
    files: [
      ...sources.map(({ file }) => file),
      ...namedFiles(cluster, ['certificate-authority']),
      ...namedFiles(user, ['client-certificate', 'client-key']),
    ],
  }
}

/** Returns the files named in an entry's fields. A field with inline data names no file. */
function namedFiles(entry: Entry, fields: readonly string[]): string[] {
  return fields
    .filter((field) => optionalText(entry, `${field}-data`) === undefined)
    .map((field) => optionalText(entry, field))
    .filter((name) => name !== undefined)
    .map((name) => resolve(dirname(entry.file), name))
}

/**
 * Returns the user entry without credentials, because credentials must not be sent over an unencrypted connection.
 * Impersonation settings are kept.
 */
function withoutCredentials(user: Entry): Entry {
  const remainingFields = Object.entries(user.content).filter(([name]) => !credentialFields.includes(name))
  return { ...user, content: Object.fromEntries(remainingFields) }
}

const noEntry: Entry = { file: '', content: {}, title: '' }

/** Fields with credentials. If a flag sets one of them, all credentials in the file are ignored. */
const credentialFields = [
  'token',
  'tokenFile',
  'client-certificate',
  'client-certificate-data',
  'client-key',
  'client-key-data',
  'username',
  'password',
  'exec',
  'auth-provider',
]

/**
 * Returns the entry with the overriding fields set. All other paths in the entry remain relative to the directory of
 * the entry's file.
 */
function overridden(entry: Entry, choice: ConfigChoice, sort: 'cluster' | 'user'): Entry {
  const overrides = choice[sort] ?? {}
  const names = Object.keys(overrides)
  if (names.length === 0) return entry
  const dropped = new Set(
    names.flatMap((name) => [`${name}-data`, ...(credentialFields.includes(name) ? credentialFields : [])]),
  )
  const remainingFields = Object.entries(entry.content).filter(([name]) => !dropped.has(name))
  const paths = Object.entries(overrides).map(([name, value]) => [
    name,
    isPath(name) && value !== '' ? resolve(choice.directory ?? '', String(value)) : value,
  ])
  return { ...entry, content: { ...Object.fromEntries(remainingFields), ...Object.fromEntries(paths) } }
}

function isPath(field: string): boolean {
  return ['certificate-authority', 'client-certificate', 'client-key'].includes(field)
}

/** The contexts of a kubeconfig, and the current context. */
export interface ConfigContexts {
  /** The selected context, or else the current context. */
  readonly current: string | undefined
  readonly contexts: readonly {
    readonly name: string
    readonly cluster: string
    readonly user: string
    readonly namespace: string
  }[]
}

/**
 * Returns the contexts of the files, sorted by name. If multiple contexts have the same name, only the first is
 * returned.
 */
export function readContexts(choice: Pick<ConfigChoice, 'files' | 'parse' | 'context'>): ConfigContexts {
  const sources = sourcesOf(choice)
  refuseNone(choice, sources)
  const names = new Set(sources.flatMap((source) => entryNames(source, 'context')))
  const contexts = [...names].sort().map((name) => {
    const entry = findEntry(sources, 'context', name)
    const text = (field: string) => optionalText(entry, field) ?? ''
    return { name, cluster: text('cluster'), user: text('user'), namespace: text('namespace') }
  })
  return { current: choice.context ?? currentName(sources), contexts }
}

export interface ConfigUsers {
  readonly byName: ReadonlyMap<string, UserCredentials>
  /** User of the current context. Undefined if the context has none. */
  readonly current: UserCredentials | undefined
}

/** Reads the users of a file that does not describe a single server. The names of the users identify the servers. */
export function readUsers(choice: Pick<ConfigChoice, 'files' | 'parse'>): ConfigUsers {
  const sources = sourcesOf(choice)
  refuseNone(choice, sources)
  const names = new Set(sources.flatMap((source) => entryNames(source, 'user')))
  const byName = new Map([...names].map((name) => [name, fixedCredentials(findEntry(sources, 'user', name))]))
  const context = currentName(sources)
  const user = context === undefined ? undefined : optionalText(findEntry(sources, 'context', context), 'user')
  return { byName, current: user === undefined ? undefined : fixedCredentials(findEntry(sources, 'user', user)) }
}

interface Source {
  readonly file: string
  readonly content: JsonObject
}

function sourcesOf({ files, parse }: Pick<ConfigChoice, 'files' | 'parse'>): Source[] {
  return files.map((file) => readSource(file, parse)).filter((source) => source !== undefined)
}

function refuseNone({ files }: Pick<ConfigChoice, 'files'>, sources: readonly Source[]): void {
  if (sources.length === 0)
    throw new MissingConfigError(`no kubeconfig found: ${files.join(', ')}: no such file or directory`)
}

function readSource(file: string, parse: ConfigParser): Source | undefined {
  const text = textIfThere(file)
  if (text === undefined) return undefined
  const content = parse(file, text)
  if (content !== null && !isObject(content)) throw new ConfigError(`${file} is not a kubeconfig`)
  const version = own(content ?? {}, 'apiVersion') ?? 'v1'
  if (version !== 'v1')
    throw new ConfigError(
      `error loading config file ${JSON.stringify(file)}: apiVersion is ${JSON.stringify(version)} instead of v1`,
    )
  return { file, content: content ?? {} }
}

/**
 * Returns the entry of the context to use. Returns an empty entry if there is no context and flags name a server or
 * cluster instead.
 */
function chooseContext(sources: readonly Source[], { context, server, clusterName }: ConfigChoice): Entry {
  const name = context ?? currentName(sources)
  if (name === undefined && (server ?? clusterName) !== undefined) return noEntry
  if (name === undefined)
    throw new ConfigError(
      `${filesOf(sources)}: no current-context is set: set one with orchctl config use-context NAME`,
    )
  return findEntry(sources, 'context', name)
}

/** Returns the current context of the first file that sets one. */
function currentName(sources: readonly Source[]): string | undefined {
  return sources
    .map((source) => optionalText({ ...source, title: 'the client config' }, 'current-context'))
    .find((name) => name !== undefined && name !== '')
}

function entryNames({ file, content }: Source, sort: EntrySort): string[] {
  return entriesOf(file, content, `${sort}s`)
    .map((entry) => own(entry, 'name'))
    .filter((name) => typeof name === 'string')
}

type EntrySort = 'cluster' | 'user' | 'context'

/** Maximum number of contexts to list in an error message. */
const namedAtMost = 10

function findEntry(sources: readonly Source[], sort: EntrySort, name: string): Entry {
  for (const { file, content } of sources) {
    const matches = entriesOf(file, content, `${sort}s`).filter((entry) => own(entry, 'name') === name)
    if (matches.length > 1)
      throw new ConfigError(`${file}: the list ${sort}s contains ${JSON.stringify(name)} more than once`)
    if (matches.length === 0) continue
    const inner = own(matches[0]!, sort) ?? {}
    const title = `${sort} ${JSON.stringify(name)}`
    if (!isObject(inner)) throw new ConfigError(`${file}: ${title}: ${sort} is not an object`)
    return { file, content: inner, title, name }
  }
  const existingNames = sources.flatMap((source) => entryNames(source, sort)).map((each) => JSON.stringify(each))
  const more = existingNames.length > namedAtMost ? ', ...' : ''
  const there = existingNames.length === 0 ? '' : `; known are ${existingNames.slice(0, namedAtMost).join(', ')}${more}`
  throw new ConfigError(`${filesOf(sources)}: ${missing[sort](name)}${there}`)
}

/** Error messages for a missing entry, worded as in kubectl. */
const missing: { readonly [S in EntrySort]: (name: string) => string } = {
  context: (name) => `context was not found for specified context: ${name}`,
  cluster: (name) => `no server found for cluster ${JSON.stringify(name)}`,
  user: (name) => `auth info ${JSON.stringify(name)} does not exist`,
}

function entriesOf(file: string, content: JsonObject, field: string): JsonObject[] {
  const list = own(content, field) ?? []
  if (!Array.isArray(list) || !list.every(isObject)) throw new ConfigError(`${file}: ${field} is not a list of objects`)
  return list
}

function filesOf(sources: readonly Source[]): string {
  return sources.map(({ file }) => file).join(', ')
}

function transportOf({
  cluster,
  user,
  server,
  interactive,
  plain,
}: Pick<ConfigChoice, 'server' | 'interactive' | 'plain'> & { cluster: Entry; user: Entry }): HttpTransportOptions {
  const connectionOptions = clusterOptions(cluster, { server, plain })
  return {
    ...connectionOptions,
    ...userOptions(isSecure(connectionOptions.server) ? user : withoutCredentials(user), {
      cluster: toldToPlugins(cluster, connectionOptions),
      interactive: interactive ?? false,
    }),
  }
}
