/** Connects to the server that the flags select. The caller closes the connection. */
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
  /** URL of the server. */
  readonly server: string
  /** Namespace from the flags or the kubeconfig context. */
  readonly namespace: string
  /** Sends a request that upgrades to another protocol. Uses a separate connection. */
  readonly upgrade: HttpTransport['upgrade']
  /** Sends any request unchanged, with the user's credentials, for `orchctl proxy`. */
  readonly send: Transport
}

/** Connects to the server, calls `use`, and then closes the connection. */
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
    const reportedWarnings = new Set<string>()
    const send = await sendOf(transport, config.transport.server, { context, options, reportedWarnings })
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
    refuseWarnings(reportedWarnings, options)
    return result
  } finally {
    transport.close()
  }
}

type ConnectionOptions = OptionsOf<typeof connectionFlags> & {
  readonly dryRun?: unknown
}

/** Returns a connection for use without a server. All requests fail, but many client-side dry runs send none. */
function withoutServer(error: MissingConfigError, { namespace }: ConnectionOptions): Connection {
  const fail = () => Promise.reject(error)
  return { client: new Client(fail), server: '', namespace: namespace || 'default', upgrade: fail, send: fail }
}

/** Returns the kubeconfig settings, as overridden by flags. */
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

/** Lowest `-v` level that shows requests, as in kubectl. */
const tracedFrom = 6

async function sendOf(
  { send }: HttpTransport,
  server: string,
  {
    context,
    options,
    reportedWarnings,
  }: { context: Context; options: ConnectionOptions; reportedWarnings: Set<string> },
): Promise<Transport> {
  const warned = withWarnings(send, { tell: context.err, reportedWarnings })
  const level = options.verbosity
  if (level < tracedFrom) return warned
  const { withTrace } = await import('./trace.ts')
  return withTrace(warned, { server, level, tell: context.err })
}

/**
 * Implements `--match-server-version`. The version string of a server starts with its API level and ends with the
 * version of the server itself.
 */
async function refuseOtherVersion(client: Client, { signal }: Context): Promise<void> {
  const { gitVersion = '' } = await client.read<{ gitVersion?: string }>('/version', { signal })
  if (!gitVersion.endsWith(`+orch.${version}`))
    throw new UsageError(`server version (${escapeLine(gitVersion)}) differs from client version (v${version})`)
}

/**
 * Implements `--warnings-as-errors`: if the server has sent warnings, the command exits with an error code once all
 * work is done.
 */
function refuseWarnings({ size }: ReadonlySet<string>, { warningsAsErrors }: ConnectionOptions): void {
  if (warningsAsErrors && size > 0) throw new UsageError(`${size} ${size === 1 ? 'warning' : 'warnings'} received`)
}

/** Returns the paths of the kubeconfig files: the path in the `--kubeconfig` flag, or the default paths. */
export function configFiles(context: Context, kubeconfigFlag: string): string[] {
  return kubeconfigFlag === '' ? usualFiles(context) : [resolve(context.directory, kubeconfigFlag)]
}

/** Whether the server was selected only by the default kubeconfig, without any flag or environment variable. */
function isByChance({ env }: Context, { kubeconfig, context, server }: ConnectionOptions): boolean {
  return kubeconfig === '' && context === '' && server === '' && listedFiles(env) === undefined
}

/** Returns a note if `orch up` was started in the current directory but the command uses another server. */
function otherServerNote({ directory }: Context, file: string, server: string): string {
  const local = localConfig(directory)
  if (local === undefined || local === file || textIfThere(local)?.includes(JSON.stringify(server))) return ''
  const shownPath = relative(directory, file)
  const other = relative(directory, local)
  return `orchctl: using ${server} from ${shownPath.startsWith('..') ? file : shownPath}; for this directory's server, use --kubeconfig=${other}\n`
}
