/**
 * The client config (kubeconfig) of a user of Node: which server, how to verify it, which user, which namespace.
 *
 * Several files count as one, in which the first to name something wins. Paths in a file start at that file. What is
 * wrong, and what is asked for but not supported, is reported with the file and the field; secrets are never quoted.
 */
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { isObject, type JsonObject, own } from '../../model/json.ts'
import type { HttpTransportOptions } from './http-transport.ts'
import { ConfigError, type ConfigParser, textIfThere } from './kubeconfig-files.ts'

export interface ConfigChoice {
  /** The files to read, the first of them first. */
  readonly files: readonly string[]
  readonly parse: ConfigParser
  /** Which context; left out: the current one. */
  readonly context?: string | undefined
  /** Another server than that of the context. */
  readonly server?: string | undefined
  /** What counts instead of what the cluster and the user of the context say, in the words of the client config. */
  readonly cluster?: JsonObject
  readonly user?: JsonObject
  /** Where the files start that these name. */
  readonly directory?: string
}

export interface ClientConfig {
  readonly transport: HttpTransportOptions
  /** The namespace that the context names. */
  readonly namespace: string | undefined
  /** The files that all this was read from. */
  readonly files: readonly string[]
}

/** A file that is not there counts as empty, unless there is none at all. */
export function readClientConfig(choice: ConfigChoice): ClientConfig {
  const { context, server } = choice
  const sources = sourcesOf(choice)
  // Who names a server and needs no more than flags say needs no client config.
  if (sources.length === 0 && server !== undefined && context === undefined)
    return {
      transport: transportOf(overridden(noEntry, choice, 'cluster'), overridden(noEntry, choice, 'user'), server),
      namespace: undefined,
      files: [],
    }
  refuseNone(choice, sources)
  const chosen = chooseContext(sources, context)
  const cluster = findEntry(sources, 'cluster', requiredText(chosen, 'cluster'))
  const name = optionalText(chosen, 'user')
  const user = name === undefined ? { ...chosen, content: {} } : findEntry(sources, 'user', name)
  return {
    transport: transportOf(overridden(cluster, choice, 'cluster'), overridden(user, choice, 'user'), server),
    namespace: optionalText(chosen, 'namespace'),
    files: [
      ...sources.map(({ file }) => file),
      ...namedFiles(cluster, ['certificate-authority']),
      ...namedFiles(user, ['client-certificate', 'client-key']),
    ],
  }
}

/** The files that these fields name, where they are not given as data. */
function namedFiles(entry: Entry, fields: readonly string[]): string[] {
  return fields
    .filter((field) => optionalText(entry, `${field}-data`) === undefined)
    .map((field) => optionalText(entry, field))
    .filter((name) => name !== undefined)
    .map((name) => resolve(dirname(entry.file), name))
}

const noEntry: Entry = { file: '', content: {}, title: '' }

/** The ways to say who one is. One that is given by a flag counts alone, whatever the file says. */
const credentialFields = [
  'token',
  'tokenFile',
  'client-certificate',
  'client-certificate-data',
  'client-key',
  'client-key-data',
]

/** The entry with what was said beside the file. Paths in the file go on to start there. */
function overridden(entry: Entry, choice: ConfigChoice, sort: 'cluster' | 'user'): Entry {
  const said = choice[sort] ?? {}
  const names = Object.keys(said)
  if (names.length === 0) return entry
  const dropped = new Set(
    names.flatMap((name) => [`${name}-data`, ...(credentialFields.includes(name) ? credentialFields : [])]),
  )
  const kept = Object.entries(entry.content).filter(([name]) => !dropped.has(name))
  const paths = Object.entries(said).map(([name, value]) => [
    name,
    isPath(name) && value !== '' ? resolve(choice.directory ?? '', String(value)) : value,
  ])
  return { ...entry, content: { ...Object.fromEntries(kept), ...Object.fromEntries(paths) } }
}

function isPath(field: string): boolean {
  return ['certificate-authority', 'client-certificate', 'client-key'].includes(field)
}

export interface ConfigContexts {
  /** The one that is chosen, or else in use. */
  readonly current: string | undefined
  readonly contexts: readonly {
    readonly name: string
    readonly cluster: string
    readonly user: string
    readonly namespace: string
  }[]
}

/** What the files say of contexts, in the order of their names; of two with one name the first counts. */
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

/** How a user of a client config proves to be one, all of it read. */
export interface UserCredentials {
  readonly certificate: string | undefined
  readonly key: string | undefined
  readonly token: string | undefined
  readonly username: string | undefined
  readonly password: string | undefined
}

export interface ConfigUsers {
  readonly byName: ReadonlyMap<string, UserCredentials>
  /** The user of the current context, if there is one. */
  readonly current: UserCredentials | undefined
}

/** The users of a file that is not about one server: their names say whom their credentials are for. */
export function readUsers(choice: Pick<ConfigChoice, 'files' | 'parse'>): ConfigUsers {
  const sources = sourcesOf(choice)
  refuseNone(choice, sources)
  const names = new Set(sources.flatMap((source) => entryNames(source, 'user')))
  const byName = new Map([...names].map((name) => [name, credentialsOf(findEntry(sources, 'user', name))]))
  const context = currentName(sources)
  const user = context === undefined ? undefined : optionalText(findEntry(sources, 'context', context), 'user')
  return { byName, current: user === undefined ? undefined : credentialsOf(findEntry(sources, 'user', user)) }
}

function credentialsOf(user: Entry): UserCredentials {
  refuseUnbuilt(user, ['exec', 'auth-provider', 'as', 'as-uid', 'as-groups', 'as-user-extra'])
  const { certificate, key } = certificateOf(user)
  const file = optionalText(user, 'tokenFile')
  const token = optionalText(user, 'token') ?? (file && readNamed(user, 'tokenFile', file).trim())
  return {
    ...{ certificate, key },
    token: token === undefined ? undefined : checkToken(user, 'token', token),
    username: optionalText(user, 'username'),
    password: optionalText(user, 'password'),
  }
}

interface Source {
  readonly file: string
  readonly content: JsonObject
}

/** A cluster, a user or a context, and where it stands. */
interface Entry extends Source {
  readonly title: string
}

function sourcesOf({ files, parse }: Pick<ConfigChoice, 'files' | 'parse'>): Source[] {
  return files.map((file) => readSource(file, parse)).filter((source) => source !== undefined)
}

function refuseNone({ files }: Pick<ConfigChoice, 'files'>, sources: readonly Source[]): void {
  if (sources.length === 0) throw new ConfigError(`there is no client config: ${files.join(', ')} is not there`)
}

function readSource(file: string, parse: ConfigParser): Source | undefined {
  const text = textIfThere(file)
  if (text === undefined) return undefined
  const content = parse(file, text)
  if (content !== null && !isObject(content)) throw new ConfigError(`${file} is not a client config`)
  return { file, content: content ?? {} }
}

function chooseContext(sources: readonly Source[], wanted: string | undefined): Entry {
  const name = wanted ?? currentName(sources)
  if (name === undefined)
    throw new ConfigError(`${filesOf(sources)}: no current-context is set; name one with --context`)
  return findEntry(sources, 'context', name)
}

/** The context in use: that of the first file that names one. */
function currentName(sources: readonly Source[]): string | undefined {
  return sources
    .map((source) => optionalText({ ...source, title: 'the client config' }, 'current-context'))
    .find((name) => name !== undefined && name !== '')
}

function entryNames({ file, content }: Source, sort: 'context' | 'user'): string[] {
  return entriesOf(file, content, `${sort}s`)
    .map((entry) => own(entry, 'name'))
    .filter((name) => typeof name === 'string')
}

function findEntry(sources: readonly Source[], sort: 'cluster' | 'user' | 'context', name: string): Entry {
  for (const { file, content } of sources) {
    const matches = entriesOf(file, content, `${sort}s`).filter((entry) => own(entry, 'name') === name)
    if (matches.length > 1) throw new ConfigError(`${file}: ${sort}s has ${JSON.stringify(name)} more than once`)
    if (matches.length === 0) continue
    const inner = own(matches[0]!, sort) ?? {}
    const title = `${sort} ${JSON.stringify(name)}`
    if (!isObject(inner)) throw new ConfigError(`${file}: ${title}: ${sort} is not an object`)
    return { file, content: inner, title }
  }
  throw new ConfigError(`${filesOf(sources)}: there is no ${sort} ${JSON.stringify(name)}`)
}

function entriesOf(file: string, content: JsonObject, field: string): JsonObject[] {
  const list = own(content, field) ?? []
  if (!Array.isArray(list) || !list.every(isObject)) throw new ConfigError(`${file}: ${field} is not a list of objects`)
  return list
}

function filesOf(sources: readonly Source[]): string {
  return sources.map(({ file }) => file).join(', ')
}

function transportOf(cluster: Entry, user: Entry, server: string | undefined): HttpTransportOptions {
  refuseUnbuilt(cluster, ['proxy-url'])
  refuseUnbuilt(user, ['exec', 'auth-provider', 'username', 'password', 'as-uid', 'as-user-extra'])
  const authority = pemOf(cluster, 'certificate-authority')
  if (authority !== undefined) checkPem(cluster, 'certificate-authority', { ca: authority })
  const { certificate, key } = certificateOf(user)
  const token = tokenOf(user)
  const serverName = optionalText(cluster, 'tls-server-name')
  return {
    server: server ?? serverOf(cluster),
    ...(insecureOf(cluster) ? { insecure: true } : {}),
    ...(serverName === undefined ? {} : { serverName }),
    ...impersonationOf(user),
    ...(authority === undefined ? {} : { authority }),
    ...(certificate === undefined || key === undefined ? {} : { certificate: { certificate, key } }),
    ...(token === undefined ? {} : { token }),
  }
}

function certificateOf(user: Entry): Pick<UserCredentials, 'certificate' | 'key'> {
  const certificate = pemOf(user, 'client-certificate')
  const key = pemOf(user, 'client-key')
  if ((certificate === undefined) !== (key === undefined))
    throw fault(user, 'client-certificate', 'and client-key go together')
  if (certificate !== undefined) checkPem(user, 'client-certificate', { cert: certificate, key })
  return { certificate, key }
}

function insecureOf(cluster: Entry): boolean {
  const insecure = own(cluster.content, 'insecure-skip-tls-verify') ?? false
  if (typeof insecure !== 'boolean') throw fault(cluster, 'insecure-skip-tls-verify', 'is not true or false')
  if (insecure && pemOf(cluster, 'certificate-authority') !== undefined)
    throw fault(cluster, 'insecure-skip-tls-verify', 'and certificate-authority contradict each other')
  return insecure
}

/** The headers that say whom to act as. */
function impersonationOf(user: Entry): Pick<HttpTransportOptions, 'headers'> {
  const name = optionalText(user, 'as')
  const groups = own(user.content, 'as-groups') ?? []
  if (!Array.isArray(groups) || !groups.every((group) => typeof group === 'string'))
    throw fault(user, 'as-groups', 'is not a list of texts')
  if (name === undefined && groups.length === 0) return {}
  if (name === undefined) throw fault(user, 'as-groups', 'is there, but nobody to act as: name a user too')
  return { headers: { 'impersonate-user': name, ...(groups.length === 0 ? {} : { 'impersonate-group': groups }) } }
}

function refuseUnbuilt(entry: Entry, fields: readonly string[]): void {
  for (const field of fields) {
    const value = own(entry.content, field)
    if (value !== undefined && value !== null && value !== false && value !== '')
      throw fault(entry, field, 'is not built yet')
  }
}

function serverOf(cluster: Entry): string {
  const server = requiredText(cluster, 'server')
  if (!isServer(server)) throw fault(cluster, 'server', 'is not an address such as https://127.0.0.1:6443')
  return server
}

/** Whether it is the address of a server: an https URL. */
export function isServer(text: string): boolean {
  return URL.canParse(text) && new URL(text).protocol === 'https:'
}

/** From `<field>-data`, in base64, or else from the file that `<field>` names. */
function pemOf(entry: Entry, field: string): string | undefined {
  const data = optionalText(entry, `${field}-data`)
  if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8')
  const file = optionalText(entry, field)
  return file === undefined ? undefined : readNamed(entry, field, file)
}

function readNamed(entry: Entry, field: string, name: string): string {
  const file = resolve(dirname(entry.file), name)
  const text = textIfThere(file)
  if (text === undefined) throw fault(entry, field, `names ${file}, which is not there`)
  return text
}

function checkPem(entry: Entry, field: string, pem: { ca?: string; cert?: string; key?: string | undefined }): void {
  const what = 'ca' in pem ? 'is not a certificate in PEM' : 'and client-key are not a certificate and its key in PEM'
  if (!(pem.ca ?? pem.cert ?? '').includes('-----BEGIN ')) throw fault(entry, field, what)
  try {
    // Without a list of authorities it would load all the well-known ones, which takes longer than the rest of a start.
    // An import of the module would do the same: it looks at everything that the module has.
    process.getBuiltinModule('node:tls').createSecureContext({ ca: [], ...pem })
  } catch (error) {
    throw fault(entry, field, what, error)
  }
}

/** A file of a token is read before every request: tokens that are renewed are renewed there. */
function tokenOf(user: Entry): (() => string | Promise<string>) | undefined {
  const file = optionalText(user, 'tokenFile')
  const token = optionalText(user, 'token')
  if (file !== undefined) {
    readNamed(user, 'tokenFile', file)
    const path = resolve(dirname(user.file), file)
    return async () => checkToken(user, 'tokenFile', (await readFile(path, 'utf8')).trim())
  }
  return token === undefined ? undefined : () => checkToken(user, 'token', token)
}

function checkToken(user: Entry, field: string, token: string): string {
  if (!/^[!-~]+$/.test(token)) throw fault(user, field, 'is not a token: it has blanks or other odd characters')
  return token
}

function requiredText(entry: Entry, field: string): string {
  const text = optionalText(entry, field)
  if (text === undefined) throw fault(entry, field, 'is missing')
  return text
}

/** An empty text counts as none. */
function optionalText(entry: Entry, field: string): string | undefined {
  const value = own(entry.content, field)
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'string') throw fault(entry, field, 'is not a text')
  return value
}

function fault({ file, title }: Entry, field: string, what: string, cause?: unknown): ConfigError {
  const place = [file, title].filter((part) => part !== '').map((part) => `${part}: `)
  return new ConfigError(`${place.join('')}${field} ${what}`, { cause })
}
