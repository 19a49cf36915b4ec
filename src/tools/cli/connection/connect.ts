/** From flags to a client that talks to the server they name. Whoever connects also closes. */
import { relative, resolve } from 'node:path'
import type { JsonObject } from '../../../api/json/json.ts'
import { version } from '../../../api/model/version.ts'
import { type OptionsOf, UsageError } from '../../../base/flags/flags.ts'
import { parserFor } from '../../../client/node/config-parser.ts'
import { HttpTransport } from '../../../client/node/http-transport.ts'
import { type ClientConfig, type ConfigChoice, readClientConfig } from '../../../client/node/kubeconfig.ts'
import {
  listedFiles,
  localConfig,
  MissingConfigError,
  textIfThere,
  usualFiles,
} from '../../../client/node/kubeconfig-files.ts'
import { Client } from '../../../client/requests/client.ts'
import type { Transport } from '../../../client/requests/transport.ts'
import { escapeLine } from '../printers/escape.ts'
import type { Context } from '../program/command.ts'
import type { connectionFlags } from './connection-flags.ts'
import { withWarnings } from './warnings.ts'

export interface Connection {
  readonly client: Client
  /** Its address. */
  readonly server: string
  /** The namespace to look in. */
  readonly namespace: string
  /** Asks for another protocol, on a connection of its own. */
  readonly upgrade: HttpTransport['upgrade']
  /** Any request, as it is, with the credentials of the user: for `orchctl proxy`. */
  readonly send: Transport
}

/** The connection lasts as long as `use` does. */
export async function withConnection<T>(
  context: Context,
  options: ConnectionOptions,
  use: (connection: Connection) => Promise<T>,
): Promise<T> {
  const files = configFiles(context, options.kubeconfig)
  let config: ClientConfig
  try {
    config = readClientConfig({ ...choiceOf(context, options), files, parse: await parserFor(files) })
  } catch (error) {
    if (!(error instanceof MissingConfigError) || options.dryRun !== 'client') throw error
    return await use(withoutServer(error, options))
  }
  if (options.verbosity >= tracedFrom)
    context.err(
      files
        .filter((file) => config.files.includes(file))
        .map((file) => `Config loaded from file: ${escapeLine(file)}\n`)
        .join(''),
    )
  if (isByChance(context, options)) context.err(otherServerNote(context, files[0]!, config.transport.server))
  const transport = new HttpTransport(config.transport)
  try {
    const told = new Set<string>()
    const send = await sendOf(transport, config.transport.server, { context, options, told })
    const client = new Client(send, {
      userAgent: `orchctl/${version}`,
      ...(options.requestTimeout === 0 ? {} : { timeoutMs: options.requestTimeout }),
    })
    if (options.matchServerVersion) await refuseOtherVersion(client, context)
    const result = await use({
      client,
      server: config.transport.server,
      namespace: options.namespace || config.namespace || 'default',
      upgrade: (request) => transport.upgrade(request),
      send,
    })
    refuseWarnings(told, options)
    return result
  } finally {
    transport.close()
  }
}

type ConnectionOptions = OptionsOf<typeof connectionFlags> & {
  readonly dryRun?: unknown
}

/** What a dry run on the client's side often needs no more than: whatever is asked of a server fails. */
function withoutServer(error: MissingConfigError, { namespace }: ConnectionOptions): Connection {
  const fail = () => Promise.reject(error)
  return { client: new Client(fail), server: '', namespace: namespace || 'default', upgrade: fail, send: fail }
}

/** The client config, less what flags say otherwise. */
function choiceOf({ directory, terminal }: Context, options: ConnectionOptions): Omit<ConfigChoice, 'files' | 'parse'> {
  const cluster: JsonObject = {
    ...(options.certificateAuthority && { 'certificate-authority': options.certificateAuthority }),
    ...(options.insecure && { 'insecure-skip-tls-verify': true, 'certificate-authority': '' }),
    ...(options.tlsServerName && { 'tls-server-name': options.tlsServerName }),
  }
  const user: JsonObject = {
    ...(options.token && { token: options.token }),
    ...(options.basicUser && { username: options.basicUser, password: options.basicPassword }),
    ...(options.clientCertificate && { 'client-certificate': options.clientCertificate }),
    ...(options.clientKey && { 'client-key': options.clientKey }),
    ...(options.as && { as: options.as }),
    ...(options.asGroup.length > 0 && { 'as-groups': [...options.asGroup] }),
    ...(options.asUid && { 'as-uid': options.asUid }),
  }
  return {
    context: options.context || undefined,
    clusterName: options.cluster || undefined,
    userName: options.configUser || undefined,
    server: options.server || undefined,
    plain: true,
    cluster,
    user,
    directory,
    interactive: terminal.input ?? false,
  }
}

/** The level of `-v` from which requests are shown, as kubectl has it. */
const tracedFrom = 6

async function sendOf(
  { send }: HttpTransport,
  server: string,
  { context, options, told }: { context: Context; options: ConnectionOptions; told: Set<string> },
): Promise<Transport> {
  const warned = withWarnings(send, { tell: context.err, told })
  const level = options.verbosity
  if (level < tracedFrom) return warned
  const { withTrace } = await import('./trace.ts')
  return withTrace(warned, { server, level, tell: context.err })
}

/** `--match-server-version`. What a server says of its version begins with the level of the API, and ends with its own. */
async function refuseOtherVersion(client: Client, { signal }: Context): Promise<void> {
  const { gitVersion = '' } = await client.read<{ gitVersion?: string }>('/version', { signal })
  if (!gitVersion.endsWith(`+orch.${version}`))
    throw new UsageError(`server version (${escapeLine(gitVersion)}) differs from client version (v${version})`)
}

/** `--warnings-as-errors`: everything was done, and yet the exit code tells. */
function refuseWarnings({ size }: ReadonlySet<string>, { warningsAsErrors }: ConnectionOptions): void {
  if (warningsAsErrors && size > 0) throw new UsageError(`${size} ${size === 1 ? 'warning' : 'warnings'} received`)
}

/** The files of the client config: the one that is named, or else those that are usual. */
export function configFiles(context: Context, named: string): string[] {
  return named === '' ? usualFiles(context) : [resolve(context.directory, named)]
}

/** Whether only a config in the user's home directory says which server is asked. */
function isByChance({ env }: Context, { kubeconfig, context, server }: ConnectionOptions): boolean {
  return kubeconfig === '' && context === '' && server === '' && listedFiles(env) === undefined
}

/** Where a server was started in this directory, its user may well mean that one, and not the one that is asked. */
function otherServerNote({ directory }: Context, file: string, server: string): string {
  const local = localConfig(directory)
  if (local === undefined || local === file || textIfThere(local)?.includes(JSON.stringify(server))) return ''
  const asked = relative(directory, file)
  const other = relative(directory, local)
  return `orchctl: asking ${server}, as ${asked.startsWith('..') ? file : asked} says; the server of this directory: --kubeconfig=${other}\n`
}
